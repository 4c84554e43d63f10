/* The limit of a whole call: the caller's signal or the deadline, whichever comes first. */

/** The part of an AbortSignal that is used. */
export type Signal = Pick<AbortSignal, "aborted" | "addEventListener" | "removeEventListener">;

/** The limit of a call. */
export interface Limit {
  /** The signal for `src/client/limits.rs`. */
  readonly signal: Signal | undefined;
  readonly leftMs: () => number;
  /** Whether the deadline ended the call. */
  readonly isOver: () => boolean;
  /** Stops the timer. Call it when the call has ended. */
  readonly clear: () => void;
}

export function newLimit(signal: AbortSignal | undefined, deadlineMs: number | undefined): Limit {
  if (deadlineMs === undefined)
    return { signal, leftMs: () => Infinity, isOver: () => false, clear: () => {} };
  const deadline = new AbortController(),
    endsAt = Date.now() + deadlineMs;
  const timer = setTimeout(() => deadline.abort(), deadlineMs);
  const both = signal ? [deadline.signal, signal] : [deadline.signal];
  const either = {
    get aborted() {
      return both.some(({ aborted }) => aborted);
    },
    addEventListener(...listener: Parameters<AbortSignal["addEventListener"]>) {
      for (const one of both) one.addEventListener(...listener);
    },
    removeEventListener(...listener: Parameters<AbortSignal["removeEventListener"]>) {
      for (const one of both) one.removeEventListener(...listener);
    },
  };
  return {
    signal: either,
    leftMs: () => endsAt - Date.now(),
    isOver: () => deadline.signal.aborted && !signal?.aborted,
    clear: () => clearTimeout(timer),
  };
}

/** Settles like `work`, but rejects with an Error if that takes longer than `ms` or the signal aborts first. */
export function within<T>(
  work: () => Promise<T>,
  ms: number,
  signal: Signal | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end =
      <O>(settle: (outcome: O) => void) =>
      (outcome: O) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        settle(outcome);
      };
    const aborted = end(() => reject(new Error("the call was ended"))) as () => void;
    const timer = setTimeout(
      end(() => reject(new Error(`it took longer than ${ms} ms`))) as () => void,
      ms,
    );
    signal?.addEventListener("abort", aborted);
    if (signal?.aborted) aborted();
    else work().then(end(resolve), end(reject));
  });
}
