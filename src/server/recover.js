/**
 * Answers for requests whose instance of the compiled module broke: the `worker` crate starts a new instance at the
 * next call after any exception that left the module, and the requests that the old one was serving would wait for ever.
 *
 * @param {object} module
 * @param {(request: Request, env: object, context: object) => Promise<Response | undefined>} module.fetch
 * @param {() => number} module.instance the number of the instance, a new one where the last one broke
 * @returns {(request: Request, env: object, context: object) => Promise<Response>}
 */
export function recovering({ fetch, instance }) {
  const waiting = new Map(); // a set of functions would make each a hash first
  let served = instance();
  let last = 0;

  function recover() {
    if (served === (served = instance())) return;
    console.error("the service broke and starts anew");
    for (const answer of waiting.values()) answer();
    waiting.clear();
  }

  // wasm-bindgen-futures runs all of its tasks in microtasks. In workerd one by `queueMicrotask` costs 2 µs, one of a
  // promise a tenth; and here the exception of a task is met before anything else can call the instance that it broke.
  const resolved = Promise.resolve();
  const run = (task) => { try { task(); } catch (error) { recover(); throw error; } };
  globalThis.queueMicrotask = (task) => void resolved.then(() => run(task));
  addEventListener("unhandledrejection", recover); // a promise or a timer called the module, and it broke

  return async (request, env, context) => {
    recover();
    const { promise, resolve } = Promise.withResolvers();
    const number = (last += 1);
    waiting.set(number, resolve);
    const fail = () => (recover(), resolve());
    try { fetch(request, env, context).then(resolve, fail); } catch { fail(); }
    context.waitUntil(promise); // else the platform drops a request whose caller hangs up, and what it holds stays held
    const response = await promise;
    waiting.delete(number);
    return response ?? internalError(); // made here: a platform's object belongs to the request that made it
  };
}

function internalError() {
  const body = { error: "Internal error", message: "Something is wrong on our side. Send the request again later." };
  return Response.json(body, { status: 500, headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } });
}
