/**
 * One run of `bench:service`: sends many requests with wrk to Workers that run on workerd. Each figure comes
 * from a separate process, which gets only one kind of request. The Workers take turns.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { log } from "../../../../scripts/lib/output.mjs";
import { seedData } from "../../../../scripts/lib/seed.mjs";
import { rotated } from "../numbers.mjs";
import { residentBytes } from "./process.mjs";
import { KINDS, mustAnswerAlike, recordsOf, send, writeRequests } from "./requests.mjs";
import { startsOf } from "./starts.mjs";
import { Server, bundle } from "./workerd.mjs";
import { slice, wrk } from "./wrk.mjs";

const WORKERS = join(import.meta.dirname, "workers");
/** The kinds of request that make one KV call when the key and the prices are cached. */
const ONE_CALL = ["POST small", "POST of 100", "GET small", "GET of 100"];
/** The maximum duration of one load, counted in slices of one second. */
const MOST_SLICES = 6;

/**
 * The Workers to measure. `twin` is a second copy of our build. A Worker with a `limit` does only part of the
 * work, and gets only the kinds of request in `limit`.
 * @typedef {{key: string, name: string, main: (root: string) => string, limit?: string[]}} Entry
 * @type {Entry[]}
 */
const ENTRIES = [
  { key: "ours", name: "impact-pledge", main: (root) => join(root, "build", "worker.js") },
  { key: "twin", name: "the same build", main: (root) => join(root, "build", "worker.js") },
  { key: "hono", name: "Hono + zod, tuned", main: () => join(WORKERS, "hono.mjs") },
  {
    key: "safe",
    name: "one KV call, made safe",
    main: () => join(WORKERS, "safe.mjs"),
    limit: ONE_CALL,
  },
  { key: "kv", name: "one KV call", main: () => join(WORKERS, "floor.mjs"), limit: ONE_CALL },
  {
    key: "empty",
    name: "empty Worker",
    main: () => join(WORKERS, "empty.mjs"),
    limit: ["POST small", "GET small", "401"],
  },
];

/**
 * @typedef {{rounds: number, warmUp: number, seconds: number, starts: number}} Plan `rounds`: the number of
 *   processes for each Worker and kind of request; `warmUp` and `seconds`: the processor time in each
 *   process; `starts`: the number of starts of each Worker
 * @typedef {{cpu: number | null, perSecond: number, memory: number | null}} Measured `cpu`: microseconds of
 *   processor time per request; `perSecond`: requests per second; `memory`: bytes of memory after the load
 * @typedef {Entry & import("./workerd.mjs").Bundle} Arm a Worker to measure, with its bundle
 * @typedef {object} Result the results, by the keys of the Workers
 * @property {string[]} kinds the kinds of request
 * @property {Record<string, Record<string, Measured[]>>} load by Worker, then by kind of request
 * @property {Awaited<ReturnType<typeof startsOf>>} starts
 * @property {Record<string, import("./workerd.mjs").Bundle["upload"]>} upload
 */

/**
 * Runs the benchmark once.
 * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools
 * @param {Plan} plan
 * @param {string} folder for intermediate files
 * @param {import("./requests.mjs").Kind[]} kinds
 * @returns {Promise<Result>}
 */
export async function run(tools, plan, folder, kinds = KINDS) {
  const program = await wrk();
  const { entries: seeds } = await seedData(tools);
  const arms = await bundleAll(tools, folder);
  const setting = { tools, program, plan, seeds, folder, kinds };
  await mustBeAlike(setting, arms);
  const starts = await startsOf(setting, arms);
  const load = await loadAll(setting, arms, await samplesOf(setting, arms[0]));
  const upload = Object.fromEntries(arms.map(({ key, upload }) => [key, upload]));
  return { kinds: kinds.map(({ name }) => name), load, starts, upload };
}

/** @returns {Promise<Arm[]>} */
async function bundleAll(tools, folder) {
  const arms = [];
  for (const entry of ENTRIES) {
    log(`service: bundling ${entry.name}`);
    const place = { main: entry.main(tools.root), folder: join(folder, entry.key) };
    arms.push({ ...entry, ...(await bundle(tools, place)) });
  }
  return arms;
}

/** Runs `work` on a fresh process with the development data. */
async function onServer({ tools, seeds }, arm, work) {
  const server = await Server.start(tools, arm);
  try {
    await server.seed(seeds);
    return await work(server);
  } finally {
    await server.end();
  }
}

const serviceOn = (server) => ({
  send: (request) => send(server.origin, request),
  records: { read: (name) => server.record(name), write: (entry) => server.seed([entry]) },
});

/**
 * Returns a sample for each kind of request: the requests, and the records that these requests read. Our
 * service has written the records. The samples contain them because some Workers write no records themselves.
 */
async function samplesOf(setting, ours) {
  const samples = {};
  for (const kind of setting.kinds)
    samples[kind.name] = await onServer(setting, ours, async (server) => {
      const service = serviceOn(server);
      const requests = await kind.make(service);
      return { requests, records: await recordsOf(service.records, requests) };
    });
  return samples;
}

/** Puts a sample's records into a server's KV, and returns the sample's requests. */
async function given(server, { requests, records }) {
  await server.seed(records);
  for (const { key } of records) await server.record(key); // KV in memory keeps what was read once
  return requests;
}

/** Checks that both complete services, ours and the one in Hono, answer each kind of request alike. */
async function mustBeAlike(setting, arms) {
  const [ours, , theirs] = arms;
  for (const kind of setting.kinds)
    await onServer(setting, ours, async (mine) =>
      onServer(setting, theirs, async (other) => {
        const side = async (server, arm) => {
          const [request] = await kind.make(serviceOn(server));
          return { name: arm.name, origin: server.origin, request };
        };
        await mustAnswerAlike(kind, await side(mine, ours), await side(other, theirs));
      }),
    );
  log(`service: two services answer ${setting.kinds.length} kinds of request alike`);
}

async function loadAll(setting, arms, samples) {
  const { kinds, plan } = setting;
  const none = () => Object.fromEntries(kinds.map(({ name }) => [name, []]));
  const results = Object.fromEntries(arms.map(({ key }) => [key, none()]));
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const [number, kind] of kinds.entries()) {
      log(`service: round ${round + 1} of ${plan.rounds}, ${kind.name}`);
      const asked = arms.filter(({ limit }) => limit?.includes(kind.name) ?? true);
      for (const arm of rotated(asked, round + number))
        results[arm.key][kind.name].push(await measured(setting, arm, kind, samples[kind.name]));
    }
  }
  return results;
}

/**
 * Measures one Worker with one kind of request, in a separate process.
 * @returns {Promise<Measured>}
 */
export function measured(setting, arm, kind, sample) {
  const { program, plan, folder } = setting;
  return onServer(setting, arm, async (server) => {
    const requests = await (arm.limit ? given(server, sample) : kind.make(serviceOn(server)));
    const own = join(folder, "requests");
    mkdirSync(own, { recursive: true });
    const load = {
      origin: server.origin,
      pid: server.pid,
      file: writeRequests(own, kind.name, requests, server.origin),
      connections: kind.connections,
      refused: kind.status >= 400 && !arm.limit,
    };
    await loadFor(plan.warmUp, program, load);
    const loaded = await loadFor(plan.seconds, program, load);
    return { ...loaded, memory: residentBytes(server.pid) };
  });
}

/**
 * Puts load on a process until the process has used this much processor time. On a busy machine, this takes
 * longer.
 * @param {number} seconds of processor time @param {string} program @param {any} load
 */
async function loadFor(seconds, program, load) {
  const slices = [];
  const sum = (what) => slices.reduce((total, slice) => total + slice[what], 0);
  const isEnough = () =>
    slices.length >= MOST_SLICES || (sum("cpu") || sum("microseconds")) >= seconds * 1e6;
  while (!isEnough()) slices.push(await slice(program, { ...load, seconds: 1 }));
  const requests = sum("requests");
  const cpu = slices.some(({ cpu }) => cpu === null) ? null : sum("cpu") / requests;
  return { cpu, perSecond: (requests / sum("microseconds")) * 1e6 };
}
