/* The end of a whole call: the caller's signal and the deadline, whichever comes first. */

/** What is used of a signal. */
export type Signal = Pick<AbortSignal, "aborted" | "addEventListener" | "removeEventListener">;

/** When a call ends. */
export interface Limit {
  /** What `src/client/limits.rs` takes for a signal. */
  readonly signal: Signal | undefined;
  readonly leftMs: () => number;
  /** Whether the deadline is what ended the call. */
  readonly isOver: () => boolean;
  /** Called once the call has ended. */
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

/** What `work` comes to, unless it takes longer than `ms` or the signal fires: then it is rejected with an Error. */
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
