/* The service's clock and timers: real time, or a clock that stands still until the test advances it. */

type RealTimer = ReturnType<typeof setTimeout>;

interface Timer extends TimerOptions {
  readonly due: number;
  readonly fire: () => unknown;
  real?: RealTimer;
}

interface TimerOptions {
  /** Whether the process may end before the timer fires. */
  readonly isBackground?: boolean;
}

export type Clock = ReturnType<typeof newClock>;

/**
 * Creates the clock of a test service.
 * @param start the time at which the clock is stopped, in milliseconds since 1970. Default: the clock runs in real
 *   time
 */
export function newClock(start?: number) {
  let still = start,
    ahead = 0,
    last = 0;
  const timers = new Map<number, Timer>();
  const now = () => still ?? Date.now() + ahead;

  /** Starts a real timer, but only if the clock runs in real time. */
  function arm(timer: Timer): void {
    clearTimeout(timer.real);
    if (still !== undefined) return;
    timer.real = setTimeout(timer.fire, Math.max(0, timer.due - now()));
    if (timer.isBackground) (timer.real as { unref?(): void }).unref?.(); // browsers have numbers
  }

  return {
    now,
    setTimeout(callback: () => unknown, ms: number, options?: TimerOptions): number {
      last += 1;
      const number = last;
      const fire = () => timers.delete(number) && callback();
      const timer: Timer = { due: now() + ms, fire, ...options };
      timers.set(number, timer);
      arm(timer);
      return number;
    },
    clearTimeout(number: number): void {
      clearTimeout(timers.get(number)?.real);
      timers.delete(number);
    },
    advance(ms: number): void {
      if (still === undefined) ahead += ms;
      else still += ms;
      const inOrder = [...timers.values()].sort((a, b) => a.due - b.due);
      for (const timer of inOrder) {
        arm(timer);
        if (timer.due > now()) continue;
        clearTimeout(timer.real);
        timer.fire();
      }
    },
  };
}
