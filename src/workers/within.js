/**
 * Settles as a promise does, or rejects with `undefined` when the time is up: the platform's promises never do that.
 * In JavaScript, because a timer in wasm needs closures of its own, which take 5 % of a get.
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

/** Fulfils after so many milliseconds. */
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
