/* The limit of a whole call: the caller's signal or the deadline, whichever is earlier. */
import { tryOrUndefined } from "./redact.ts";

/** The members of an AbortSignal that this package uses. */
export type Signal = Pick<AbortSignal, "aborted" | "addEventListener" | "removeEventListener">;

/** The time limit of a call. */
export interface Limit {
  /** Aborts at the deadline or when the caller's signal aborts. Never throws. */
  readonly signal: Signal;
  readonly leftMs: () => number;
  /** Whether the deadline ended the call. */
  readonly isOver: () => boolean;
  /** Stops the timer. The caller must do so when the call has ended. */
  readonly clear: () => void;
}

export function newLimit(given: AbortSignal | undefined, deadlineMs: number | undefined): Limit {
  const signal = anyOf(given ? [given] : []);
  if (deadlineMs === undefined)
    return { signal, leftMs: () => Infinity, isOver: () => false, clear: () => {} };
  const deadline = new AbortController(),
    endsAt = Date.now() + deadlineMs;
  const timer = setTimeout(() => deadline.abort(), deadlineMs);
  return {
    signal: anyOf([deadline.signal, signal]),
    leftMs: () => endsAt - Date.now(),
    isOver: () => deadline.signal.aborted && !signal.aborted,
    clear: () => clearTimeout(timer),
  };
}

/**
 * Returns a signal that aborts as soon as one of the given signals does. Ignores a given signal that throws.
 */
function anyOf(signals: readonly Signal[]): Signal {
  const each = (use: (signal: Signal) => unknown) => {
    for (const signal of signals) tryOrUndefined(() => use(signal));
  };
  return {
    get aborted() {
      return signals.some((signal) => tryOrUndefined(() => signal.aborted));
    },
    addEventListener: (...listener: Parameters<AbortSignal["addEventListener"]>) =>
      each((signal) => signal.addEventListener(...listener)),
    removeEventListener: (...listener: Parameters<AbortSignal["removeEventListener"]>) =>
      each((signal) => signal.removeEventListener(...listener)),
  };
}

/** The result of {@link within}: a value, or the reason why there is none. */
export type Ended<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "aborted" }
  | { readonly kind: "timeout" };

/** Awaits `work` until `ms` have passed or the signal aborts. Rejects if `work` does. */
export function within<T>(work: () => Promise<T>, ms: number, signal: Signal): Promise<Ended<T>> {
  return new Promise((resolve, reject) => {
    const end = <O>(settle: (outcome: O) => void, outcome: O) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      settle(outcome);
    };
    const aborted = () => end(resolve, { kind: "aborted" });
    const timer = setTimeout(() => end(resolve, { kind: "timeout" }), ms);
    signal.addEventListener("abort", aborted);
    if (signal.aborted) aborted();
    else
      work().then(
        (value) => end(resolve, { kind: "done", value }),
        (error) => end(reject, error),
      );
  });
}

/** Waits for `ms` milliseconds, or until the signal aborts. Returns whether it aborted. */
export const waited = async (ms: number, signal: Signal): Promise<boolean> =>
  (await within(() => new Promise(() => {}), ms, signal)).kind === "aborted";
