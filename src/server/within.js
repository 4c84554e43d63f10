/**
 * What a promise comes to within so many milliseconds; beyond, it is rejected with `undefined`, which no platform's is.
 * In JavaScript, because a timer of wasm's takes closures of its own: 5 % of a get.
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
