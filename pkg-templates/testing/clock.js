/** The service's clock and timers: the real time, or one that stands still until it is moved. */

/** @param {number} [start] where it stands still, in milliseconds since 1970 */
export function newClock(start) {
  let still = start,
    ahead = 0,
    last = 0;
  const timers = new Map();
  const now = () => still ?? Date.now() + ahead;

  /** As the real time runs, a real timer fires it. */
  function arm(timer) {
    clearTimeout(timer.real);
    if (still === undefined) timer.real = setTimeout(timer.fire, Math.max(0, timer.due - now()));
  }

  return {
    now,
    setTimeout(callback, ms) {
      last += 1;
      const number = last;
      const fire = () => timers.delete(number) && callback();
      const timer = { due: now() + ms, fire };
      timers.set(number, timer);
      arm(timer);
      return number;
    },
    clearTimeout(number) {
      clearTimeout(timers.get(number)?.real);
      timers.delete(number);
    },
    advance(ms) {
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
