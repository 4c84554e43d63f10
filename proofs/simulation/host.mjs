/**
 * The built Worker in an isolate of JavaScript's, from whose host it gets all that is not
 * determined.
 */
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { Script, createContext } from "node:vm";
import { build } from "esbuild";

/** As an isolate of the platform has them. */
const PLATFORM = {
  Error,
  Headers,
  ReadableStream,
  Response,
  TextDecoder,
  TextEncoder,
  Uint8Array,
  WebAssembly,
};

/**
 * Loads the Worker of a folder.
 * @returns {Promise<(imports: object) => (request: object, env: object, context: object) => Promise<Response>>} starts
 *   an isolate whose global object has these imports, and returns its `fetch`
 */
export async function loadWorker(folder) {
  const { outputFiles } = await build({
    entryPoints: [join(folder, "worker.js")],
    bundle: true,
    format: "iife",
    globalName: "worker",
    external: ["*.wasm"],
    write: false,
  });
  const script = new Script(outputFiles[0].text, { filename: "worker.js" });
  const wasm = new WebAssembly.Module(readFileSync(join(folder, "impact_pledge_bg.wasm")));
  return (imports) => {
    const global = createContext({
      ...PLATFORM,
      ...imports,
      require: () => wasm,
      addEventListener() {},
    });
    script.runInContext(global);
    return global.worker.default.fetch;
  };
}

export const bytesOf = (text) => new Uint8Array(Buffer.from(text, "latin1"));
export const textOf = (bytes) => Buffer.from(bytes).toString("latin1");

/** A request whose body, if it has one, is there or breaks off when `upload` comes to its end. */
export function simulatedRequest({ method, url, headers, body: text }, upload) {
  const arrive = async () => {
    await upload();
    return bytesOf(text);
  };
  const body = method === "POST" ? byteStream(arrive) : null;
  const arrayBuffer = async () => {
    if (body) body.locked = true;
    return (await arrive()).buffer;
  };
  return { method, url, headers: new Headers(headers), body, arrayBuffer };
}

/** A body's stream as workerd gives it to a reader of bytes. */
function byteStream(arrive) {
  let rest;
  const reader = {
    async readAtLeast(_, buffer) {
      const own = new Uint8Array(buffer.buffer.transfer());
      rest ??= await arrive();
      const piece = rest.subarray(0, own.length);
      rest = rest.subarray(piece.length);
      own.set(piece);
      return { done: piece.length === 0, value: own.subarray(0, piece.length) };
    },
    releaseLock() {
      stream.locked = false;
    },
    cancel: async () => {},
  };
  const stream = {
    locked: false,
    getReader() {
      stream.locked = true;
      return reader;
    },
  };
  return stream;
}

/**
 * A value of KV's, whose bytes are asked for when it is read.
 * @param {() => Promise<string>} read
 */
export const valueStream = (read) =>
  new ReadableStream(
    {
      async pull(controller) {
        controller.enqueue(bytesOf(await read()));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
