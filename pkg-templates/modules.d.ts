/* The modules that `scripts/lib/package.mjs` generates or takes from a WebAssembly build. */

/** The WebAssembly as printable text. */
declare module "#text" {
  const text: string;
  export default text;
}

/** The WebAssembly as a module, for platforms that compile it themselves. */
declare module "#wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The rules as plain JavaScript, converted by binaryen's wasm2js. */
declare module "#rules" {
  export function instantiate(): import("./validate/exports.ts").Exports;
}

/** The advice in the error message for an environment that forbids WebAssembly. */
declare const REMEDY: string;

declare module "#version" {
  export const VERSION: string;
}

/** The compiled client, as wasm-bindgen exports it: `src/doors/client`. */
declare module "#client" {
  import type { Answer, Conclusion, FetchArguments, Outgoing } from "./call.ts";

  export function initSync(options: { module: WebAssembly.Module }): unknown;
  /** Returns the message of an error if the key or the unit is invalid. */
  export function checkCredentials(apiKey: string, unitId: string | undefined): string | undefined;
  export function isLiveKey(apiKey: string): boolean;
  export function newIdempotencyKey(): string | undefined;
  /** Returns the message of an error if an argument of the call can't be sent. */
  export function checkCall(call: Outgoing): string | undefined;
  export function fetchArguments(call: Outgoing, signal: AbortSignal | undefined): FetchArguments;
  export function conclude(
    call: Outgoing,
    answer: Answer | undefined,
    isUnsent: boolean,
    retries: number,
  ): Conclusion;
}

/** The Worker as a function that takes the platform's globals. `bundleWorker` generates it from `testing/worker.ts`. */
declare module "#worker" {
  import type { Platform, Worker } from "./testing/isolate.ts";

  export function instantiate(platform: Platform): Worker;
}

/** The Worker, as wasm-bindgen exports it: `src/doors/api_worker` and `src/doors/delivery_worker`. */
declare module "#glue" {
  export const { deliver, fetch }: import("./testing/isolate.ts").Worker;
  export function initSync(options: { module: WebAssembly.Module }): unknown;
}

/** The object that `bundleWorker` uses in place of the Worker's globals. */
declare const platform: import("./testing/isolate.ts").Platform;

/** The addresses of the site, which only the command names. */
declare module "*/site/origin.js" {
  export function errorAddress(code: string): string;
}
