/**
 * One process of `alone.mjs`: loads a Worker, warms it up with one kind of request, and measures that kind. Its
 * parent process sends the {@link Task} and receives `{microseconds}` per request, or `{error}`.
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "../../numbers.mjs";
import { KINDS, withoutRecords } from "../requests.mjs";
import { StandInKv, StandInRequest, installStandIns, lastLine } from "./stand-ins.mjs";

/** The number of requests that are served at once. */
const AT_ONCE = 16;
/** The number of requests that are sent between two readings of the clock. */
const BATCH = 10 * AT_ONCE;
const SLICES = 15;

/**
 * @typedef {object} Task
 * @property {string | null} build folder of a built Worker; null to measure the stand-ins alone
 * @property {{key: string, value: string}[]} seeds records that KV contains at the start
 * @property {string} kind name of the kind of request
 * @property {number} milliseconds processor time of the measurement; the warm-up takes equally long
 */

process.once("message", async (/** @type {Task} */ task) => {
  const result = await measure(task).catch(({ message, stack }) => ({ error: stack ?? message }));
  process.send?.(result);
  process.disconnect();
});

/** @param {Task} task */
async function measure({ build, seeds, kind: name, milliseconds }) {
  const kv = new StandInKv();
  for (const entry of seeds) await kv.write(entry);
  const fetchOnce = await load(build, kv);
  const send = async (request) => {
    const response = await fetchOnce(asStandIn(request)());
    return { status: response.status, text: await response.text() };
  };
  const kind = KINDS.find((kind) => kind.name === name);
  if (!kind) throw new Error(`there is no kind of request ${name}`);
  const service = { send, records: kv };
  const made = await kind.make(build === null ? withoutRecords(service) : service);
  const requests = made.map(asStandIn);
  const status = build === null ? 200 : kind.status;
  kv.isKept = false;
  return loadFor(milliseconds, { fetchOnce, requests, status });
}

/**
 * Loads a Worker with stand-ins for its platform.
 * @returns {Promise<(request: StandInRequest) => Promise<any>>} the Worker's handler, with its bindings
 */
async function load(build, kv) {
  installStandIns();
  if (build === null) return nothing(kv);
  registerHooks({
    // In workerd an imported wasm module is compiled, but not instantiated.
    load: (url, context, next) =>
      url.endsWith(".wasm")
        ? { format: "module", source: compiled(url), shortCircuit: true }
        : next(url, context),
  });
  const { default: worker } = await import(pathToFileURL(join(build, "worker.js")).href);
  const bindings = { PLEDGES: kv, ALLOWED_ORIGINS: "" };
  const context = { waitUntil: () => {}, passThroughOnException: () => {} };
  return (request) => worker.fetch(request, bindings, context);
}

/** Returns the source of a module that exports the compiled wasm of a file. */
const compiled = (url) => `
  import { readFileSync } from "node:fs";
  export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})));`;

/** Returns a Worker that does nothing except wait for one KV call. */
const nothing = (kv) => async (request) => {
  const id = request.url.slice(request.url.lastIndexOf("/") + 1);
  const { value } = await kv.getWithMetadata(`transaction:${id}`, "stream");
  return new Response(value);
};

/** Returns a function that copies a request. The request's body is encoded only once. */
function asStandIn(request) {
  const bytes = Buffer.from(request.body ?? "");
  return () => new StandInRequest(request, bytes);
}

/**
 * Warms up, then measures in several slices. Returns the figure of the median slice, because the compiler
 * and the garbage collector disturb some slices.
 */
async function loadFor(milliseconds, load) {
  const warm = cpuMicroseconds() + milliseconds * 1_000;
  while (cpuMicroseconds() < warm) await batch(load);
  const slices = [];
  for (let slice = 0; slice < SLICES; slice += 1) {
    const before = cpuMicroseconds();
    const end = before + (milliseconds * 1_000) / SLICES;
    let [now, batches] = [before, 0];
    for (; now < end; now = cpuMicroseconds(), batches += 1) await batch(load);
    slices.push((now - before) / (batches * BATCH));
  }
  return { microseconds: median(slices) };
}

/** Returns the user and system time of the process, in microseconds. */
function cpuMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function batch({ fetchOnce, requests, status }) {
  for (let sent = 0; sent < BATCH; sent += AT_ONCE) {
    const next = () => fetchOnce(requests[Math.floor(Math.random() * requests.length)]());
    for (const answer of await Promise.all(Array.from({ length: AT_ONCE }, next)))
      if (answer.status !== status)
        throw new Error(`${answer.status} instead of ${status}: ${lastLine}`);
  }
}
