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
  const waiting = new Set();
  let broken = false;

  function breakDown(reason) {
    if (broken) return;
    broken = true;
    console.error("the service panicked and starts anew:", reason);
    for (const resolve of waiting) resolve(null);
    waiting.clear();
  }

  function recover() {
    restart();
    onPanic(breakDown);
    broken = false;
  }

  function serve(request, env, resolve) {
    waiting.add(resolve);
    const answer = (response) => {
      waiting.delete(resolve);
      resolve(response);
    };
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
    const response = await new Promise((resolve) => serve(request, env, resolve));
    return response ?? internalError(); // made here: a platform's object belongs to the request that made it
  };
}

function internalError() {
  const body = { error: "Internal error", message: "Something is wrong on our side. Send the request again later." };
  return Response.json(body, { status: 500, headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } });
}
