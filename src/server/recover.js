const REQUEST_ID = "x-request-id";
/** Far more than an isolate serves at once. */
const MAX_WAITING = 10_000;

/**
 * Answers for instances of the compiled module that broke: after any exception that left one, the `worker` crate starts
 * a new one at the next call, and the requests that the old one was serving would wait for ever.
 *
 * @param {(request: Request, env: object, context: object) => Promise<Response | undefined>} fetch the module's
 * @param {() => number} instance calls the module for the number of its instance: a new one, if the last one broke
 */
export function recovering(fetch, instance) {
  const waiting = new Map(); // by number: a set of functions would make each a hash first
  let served = instance();
  let last = 0;

  function recover() {
    const before = served;
    served = instance();
    if (served === before) return;
    console.error(
      JSON.stringify({ cause: "the service broke and starts anew", waiting: waiting.size }),
    );
    for (const answer of waiting.values()) answer();
    waiting.clear();
  }

  // wasm-bindgen-futures runs all tasks in microtasks. In workerd one of `queueMicrotask` costs 2 µs, one of a promise a
  // tenth of it; and here a task's exception is met before anything else calls the instance that it broke.
  const resolved = Promise.resolve();
  const run = (task) => {
    try {
      task();
    } catch (error) {
      recover();
      throw error;
    }
  };
  globalThis.queueMicrotask = (task) => void resolved.then(() => run(task));
  addEventListener("unhandledrejection", recover); // the exception of what a promise or a timer called

  return async (request, env, context) => {
    recover();
    last += 1;
    const number = last;
    const answered = new Promise((resolve, reject) => {
      waiting.set(number, resolve);
      fetch(request, env, context).then(resolve, reject);
    });
    const ended = answered.catch(recover);
    // Else the platform may drop the request of a caller who hangs up, with the bytes that it holds: only a create has any.
    if (isCreate(request)) context.waitUntil(ended);
    // So the numbers of others may stay behind; nobody waits among the oldest of so many.
    if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value);
    const response = (await ended) ?? internalError(); // made here: a platform's object belongs to the request that made it
    waiting.delete(number);
    // What is logged has the ID of its line already.
    if (!response.headers.has(REQUEST_ID)) response.headers.set(REQUEST_ID, idOf(request));
    return response;
  };
}

function idOf(request) {
  try {
    return request.headers.get("cf-ray") ?? crypto.randomUUID();
  } catch {
    return crypto.randomUUID();
  }
}

/** What of a request throws is for the module to meet, whose failure is answered. */
function isCreate(request) {
  try {
    return request.method === "POST";
  } catch {
    return true;
  }
}

function internalError() {
  const body = {
    error: "Internal error",
    message: "Something is wrong on our side. Send the request again later.",
  };
  return Response.json(body, {
    status: 500,
    headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });
}
