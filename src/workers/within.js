/**
 * Returns a promise that settles as `promise` does, or rejects with `undefined` when the time is over. The
 * platform's own promises never reject with `undefined`.
 *
 * This is JavaScript, because a timer in wasm needs closures of its own. They would take 5 % of the time of a
 * get request.
 */
export const within = (promise, milliseconds) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(reject, milliseconds);
    const ending = (end) => (outcome) => {
      clearTimeout(timer);
      end(outcome);
    };
    promise.then(ending(resolve), ending(reject));
  });

/** Returns a promise that is fulfilled after this many milliseconds. */
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
