/** The end of a whole call: the caller's signal and the deadline, whichever comes first. */

/**
 * @param {AbortSignal} [signal] @param {number} [deadlineMs]
 * @returns what `src/client/limits.rs` takes for a signal; `leftMs()`; `isOver()`: whether the deadline is what ended the call; `clear()`, once the call has ended
 */
export function newLimit(signal, deadlineMs) {
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
    addEventListener(...listener) {
      for (const one of both) one.addEventListener(...listener);
    },
    removeEventListener(...listener) {
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
export function within(work, ms, signal) {
  return new Promise((resolve, reject) => {
    const end = (settle) => (outcome) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      settle(outcome);
    };
    const aborted = end(() => reject(new Error("the call was ended")));
    const timer = setTimeout(
      end(() => reject(new Error(`it took longer than ${ms} ms`))),
      ms,
    );
    signal?.addEventListener("abort", aborted);
    if (signal?.aborted) aborted();
    else work().then(end(resolve), end(reject));
  });
}
