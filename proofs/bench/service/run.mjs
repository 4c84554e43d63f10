/** `bench:service`, one run: our Worker and its rival on workerd, loaded in turn, round by round. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { seedData } from "../../../scripts/lib/seed.mjs";
import { log } from "../../../scripts/lib/output.mjs";
import { rotated } from "../numbers.mjs";
import { residentBytes } from "./process.mjs";
import { createOnce, kindsFor, mustAnswerAlike, send, writeRequests } from "./requests.mjs";
import { Server, bundle } from "./workerd.mjs";
import { slice, wrk } from "./wrk.mjs";

const WORKERS = join(import.meta.dirname, "workers");
const SETTLE_MS = 300;

/** Ours first; the last one is a lower bound: it answers without doing the work. */
const ENTRIES = [
  { name: "impact-pledge", main: (root) => join(root, "build", "worker.js") },
  { name: "Hono + zod, tuned", main: () => join(WORKERS, "hono.mjs") },
  { name: "one KV call", main: () => join(WORKERS, "floor.mjs"), limit: true },
];

/**
 * @typedef {{rounds: number, seconds: number, starts: number}} Plan `seconds` of a slice, `starts` of a process
 *
 * @param {import("../../../scripts/lib/tools.mjs").Tools} tools
 * @param {Plan} plan
 * @param {string} folder for what is made on the way
 */
export async function run(tools, plan, folder) {
  const program = await wrk();
  const { entries: seeds } = await seedData(tools);
  const bundles = await bundleAll(tools, folder);
  const starts = await coldStarts(tools, bundles, seeds, plan);
  const servers = [];
  try {
    for (const entry of bundles) {
      const server = await Server.start(tools, entry);
      servers.push({ ...entry, server });
      await server.seed(seeds);
    }
    await prepare(servers, folder);
    const load = await loadAll(program, servers, plan);
    const memory = servers.map(({ name, server }) => [name, residentBytes(server.pid)]);
    const upload = bundles.map(({ name, upload }) => ({ name, ...upload }));
    return { upload, starts, load, memory: Object.fromEntries(memory) };
  } finally {
    await Promise.all(servers.map(({ server }) => server.end()));
  }
}

async function bundleAll(tools, folder) {
  const bundles = [];
  for (const [index, { name, main, limit = false }] of ENTRIES.entries()) {
    log(`service: bundling ${name}`);
    const place = { main: main(tools.root), folder: join(folder, `worker-${index}`) };
    bundles.push({ name, limit, ...(await bundle(tools, place)) });
  }
  return bundles;
}

/** From the start of the process to its first answer, and to its first create. */
async function coldStarts(tools, bundles, seeds, { starts }) {
  const times = bundles.map(({ name }) => [name, { answer: [], create: [] }]);
  const results = Object.fromEntries(times);
  for (let round = 0; round < starts; round += 1) {
    log(`service: start ${round + 1} of ${starts}`);
    for (const entry of rotated(bundles, round)) {
      const server = await Server.start(tools, entry);
      await send(server.origin, { method: "GET", path: "/none", headers: {} }).catch(() => null);
      results[entry.name].answer.push(performance.now() - server.spawnedAt);
      await server.seed(seeds);
      const started = performance.now();
      if (!entry.limit) {
        await createOnce(server.origin);
        results[entry.name].create.push(performance.now() - started);
      }
      await server.end();
    }
  }
  return results;
}

/** Makes each its requests, and makes sure that all do the same work. */
async function prepare(servers, folder) {
  const full = servers.filter(({ limit }) => !limit);
  for (const entry of full) entry.kinds = await kindsFor(entry.server.origin);
  const [ours, ...rivals] = full;
  for (const rival of rivals) await mustAnswerAlike(ours, rival);
  log(`service: ${full.length} services answer ${ours.kinds.length} kinds of request alike`);
  for (const entry of servers.filter(({ limit }) => limit))
    entry.kinds = await kindsOfLimit(entry, ours.kinds);
  for (const [index, { server, kinds }] of servers.entries()) {
    const own = join(folder, `requests-${index}`);
    mkdirSync(own, { recursive: true });
    for (const kind of kinds)
      kind.file = writeRequests(own, kind.name, kind.requests, server.origin);
  }
}

/** The limit refuses nothing and holds no records of its own: what it passes on is put there first. */
async function kindsOfLimit({ server }, kinds) {
  const chosen = kinds.filter(({ status }) => status === 200).map((kind) => ({ ...kind }));
  for (const kind of chosen.filter(({ name }) => name.startsWith("GET"))) {
    const [{ path }] = kind.requests;
    const [{ body }] = kinds.find(({ name }) => name === kind.name.replace("GET", "POST")).requests;
    const key = `transaction:${path.slice(path.lastIndexOf("/") + 1)}`;
    await server.seed([{ key, value: body }]);
    kind.requests = kind.requests.slice(0, 1);
  }
  return chosen;
}

/** Slices by the name of the service and the kind of request. */
async function loadAll(program, servers, { rounds, seconds }) {
  const kinds = servers[0].kinds.map(({ name }) => name);
  const empty = () => Object.fromEntries(kinds.map((kind) => [kind, []]));
  const results = Object.fromEntries(servers.map(({ name }) => [name, empty()]));
  for (const kind of kinds) {
    log(`service: warming up, ${kind}`);
    for (const entry of servers) await sliceOf(program, entry, kind, 1);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds) {
      log(`service: round ${round + 1} of ${rounds}, ${kind}`);
      for (const entry of rotated(servers, round)) {
        const one = await sliceOf(program, entry, kind, seconds);
        if (one) results[entry.name][kind].push(one);
      }
    }
  }
  return results;
}

async function sliceOf(program, { server, kinds }, name, seconds) {
  const kind = kinds.find((kind) => kind.name === name);
  if (!kind) return null;
  const { file, connections, status } = kind;
  await sleep(SETTLE_MS); // what the last one left to collect
  const { origin, pid } = server;
  return slice(program, { origin, pid, file, connections, seconds, refused: status >= 400 });
}
