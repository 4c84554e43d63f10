/**
 * Serves requests through a compiled module, and starts it anew should it ever panic: a module that has panicked
 * must not run again, and the requests that it was serving would wait for ever.
 *
 * @param {object} module
 * @param {(request: Request, env: object, answer: (response: Response) => void) => void} module.fetch serves a request
 * @param {(callback: (message: string) => void) => void} module.onPanic tells of a panic, in the present instance
 * @param {(callback: (trap: Error) => void) => void} module.onTrap tells of a trap while nobody looked on, in any instance
 * @param {() => void} module.restart replaces the instance
 * @returns {(request: Request, env: object) => Promise<Response>}
 */
export function recovering({ fetch, onPanic, onTrap, restart }) {
  /** By the numbers of their requests: a set of functions would make each a hash first. */
  const waiting = new Map();
  let last = 0;
  let broken = false;

  function breakDown(reason) {
    if (broken) return;
    broken = true;
    console.error("the service panicked and starts anew:", reason);
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
  }

  function recover() {
    restart();
    onPanic(breakDown);
    broken = false;
  }

  function serve(number, request, env, answer) {
    waiting.set(number, answer);
    try {
      fetch(request, env, answer);
    } catch (error) {
      breakDown(error);
    }
  }

  onPanic(breakDown);
  onTrap(breakDown);
  return async (request, env) => {
    if (broken) recover();
    const number = (last += 1);
    const response = await new Promise((resolve) => serve(number, request, env, resolve));
    waiting.delete(number);
    return response ?? internalError(); // made here: a platform's object belongs to the request that made it
  };
}

function internalError() {
  const body = { error: "Internal error", message: "Something is wrong on our side. Send the request again later." };
  return Response.json(body, { status: 500, headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } });
}
