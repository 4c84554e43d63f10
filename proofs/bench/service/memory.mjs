/** The memory of a process under a bounded number of mixed requests, and what of it is alive. */
import { dirname } from "node:path";
import { log } from "../../../scripts/lib/output.mjs";
import { inspect, liveHeapBytes, wasmBytes } from "./inspector.mjs";
import { residentBytes } from "./process.mjs";
import { writeRequests } from "./requests.mjs";
import { slice } from "./wrk.mjs";

const SLICE_SECONDS = 4;
const SHARES = {
  "POST small": 8,
  "POST of 100 pledges": 1,
  "GET small": 8,
  "GET of 100 pledges": 1,
  "unknown key (401)": 1,
  "invalid (400)": 1,
};

/**
 * @typedef {object} Sample after a collection of garbage; all in bytes
 * @property {number} requests so far
 * @property {number | null} resident of the whole process
 * @property {number} heap of the Worker's in V8, with all that hangs on it
 * @property {number} wasm the Worker's memory of wasm
 * @property {number} kv heap of the KV stand-in's, which is in the same process
 */

/** One service after the other. @returns {Promise<{name: string, samples: Sample[]}[]>} */
export async function soakAll(program, servers, count) {
  const soaks = [];
  for (const entry of servers)
    soaks.push({ name: entry.name, samples: await soak(program, entry, count) });
  return soaks;
}

async function soak(program, { name, server, kinds }, count) {
  const inspectors = await Promise.all([
    inspect(server.ports.inspector, "main"),
    inspect(server.ports.inspector, "kv"),
  ]);
  const errors = kinds.some(({ status }) => status >= 400) ? "some" : "none";
  /** @type {Parameters<typeof slice>[1]} */
  const load = {
    origin: server.origin,
    pid: server.pid,
    file: mixed(kinds, server.origin),
    connections: 16,
    seconds: SLICE_SECONDS,
    errors,
  };
  const samples = [await sample(server, inspectors, 0)];
  for (let sent = 0; sent < count; ) {
    sent += (await slice(program, load)).requests;
    samples.push(await sample(server, inspectors, sent));
    log(`service: ${name}, memory after ${sent} of ${count} mixed requests`);
  }
  for (const inspector of inspectors) inspector.close();
  return samples;
}

async function sample({ pid }, [main, kv], requests) {
  return {
    requests,
    heap: await liveHeapBytes(main),
    wasm: await wasmBytes(main),
    kv: await liveHeapBytes(kv),
    resident: residentBytes(pid),
  };
}

function mixed(kinds, origin) {
  const turns = 64;
  const requests = Array.from({ length: turns }, (_, turn) =>
    kinds.flatMap(({ name, requests }) => take(requests, SHARES[name] ?? 0, turn)),
  ).flat();
  return writeRequests(dirname(kinds[0].file), "mixed", requests, origin);
}

function take(requests, share, turn) {
  return Array.from(
    { length: share },
    (_, index) => requests[(turn * share + index) % requests.length],
  );
}
