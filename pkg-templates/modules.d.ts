/* The modules that `scripts/package.mjs` makes or gets from a wasm build. */

/** The wasm as printable text. */
declare module "#text" {
  const text: string;
  export default text;
}

/** The wasm as a module, where the platform compiles it. */
declare module "#wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "#version" {
  export const VERSION: string;
}

/** The compiled client, as wasm-bindgen exports it: `src/client`. */
declare module "#client" {
  import type { Conclusion } from "./client.ts";
  import type { Outgoing } from "./call.ts";

  export function initSync(options: { module: WebAssembly.Module }): unknown;
  /** What is wrong with a key or a unit, in words. */
  export function checkCredentials(apiKey: string, unitId: string | undefined): string | undefined;
  export function isLiveKey(apiKey: string): boolean;
  export function send(call: Outgoing, isCreate: boolean, subject: string): Promise<Conclusion>;
}

/** The Worker as a function of its platform: `bundleWorker` makes it of `testing/worker.ts`. */
declare module "#worker" {
  import type { Platform, WorkerFetch } from "./testing/isolate.ts";

  export function instantiate(platform: Platform): WorkerFetch;
}

/** The Worker, as wasm-bindgen exports it: `src/server`. */
declare module "#glue" {
  export const fetch: import("./testing/isolate.ts").WorkerFetch;
  export function initSync(options: { module: WebAssembly.Module }): unknown;
}

/** What `bundleWorker` gives the Worker in place of globals. */
declare const platform: import("./testing/isolate.ts").Platform;
