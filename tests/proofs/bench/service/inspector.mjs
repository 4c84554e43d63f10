/** Connects to workerd's inspector, which reports on V8 for one Worker. */

/**
 * @typedef {object} Inspector
 * @property {(method: string, params?: object) => Promise<any>} ask
 * @property {() => void} close
 * @property {number} contextId the ID of the context in which the Worker's code runs
 */

/**
 * Connects to the inspector of one Worker.
 * @param {number} port
 * @param {string} worker its name in workerd's configuration
 * @returns {Promise<Inspector>}
 */
export async function inspect(port, worker) {
  const targets = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const socket = new WebSocket(targets.find(({ id }) => id === worker).webSocketDebuggerUrl);
  await new Promise((done, fail) => {
    socket.onopen = done;
    socket.onerror = fail;
  });
  const waiting = new Map();
  let last = 0;
  /** @type {Inspector} */
  const inspector = {
    contextId: 0,
    close: () => socket.close(),
    ask: (method, params = {}) =>
      new Promise((done, fail) => {
        last += 1;
        waiting.set(last, { done, fail });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
  };
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(data);
    if (method === "Runtime.executionContextCreated") inspector.contextId = params.context.id;
    const { done, fail } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) fail?.(new Error(error.message));
    else done?.(result);
  };
  socket.onclose = () => {
    for (const { fail } of waiting.values()) fail(new Error("the inspector's connection ended"));
  };
  await inspector.ask("Runtime.enable"); // names the context
  return inspector;
}

/**
 * Measures a Worker's live heap, after V8 has collected the garbage. For this, the process needs V8's flag
 * `--expose-gc`, because workerd does not answer `HeapProfiler.collectGarbage`.
 * @param {Inspector} inspector
 * @returns {Promise<number>} bytes of V8's heap, with everything that its objects keep alive
 */
export async function liveHeapBytes({ ask, contextId }) {
  await ask("Runtime.evaluate", { contextId, expression: "gc()" });
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = await ask("Runtime.getHeapUsage");
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

/**
 * Measures the memory of the wasm in a Worker.
 * @param {Inspector} inspector
 * @returns {Promise<number>} bytes of wasm's memory in a Worker
 */
export async function wasmBytes({ ask, contextId }) {
  const { result } = await ask("Runtime.evaluate", {
    contextId,
    objectGroup: "memory",
    expression: "WebAssembly.Memory.prototype",
  });
  const { objects } = await ask("Runtime.queryObjects", {
    objectGroup: "memory",
    prototypeObjectId: result.objectId,
  });
  const functionDeclaration =
    "function () { return this.reduce((sum, { buffer }) => sum + buffer.byteLength, 0); }";
  const sum = await ask("Runtime.callFunctionOn", {
    objectId: objects.objectId,
    functionDeclaration,
    returnByValue: true,
  });
  await ask("Runtime.releaseObjectGroup", { objectGroup: "memory" });
  return sum.result.value;
}
