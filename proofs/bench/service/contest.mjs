/** `bench:service`: our Worker and its rivals on workerd, loaded in turn, round by round. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { seedData } from "../../../scripts/lib/seed.mjs";
import { log } from "../../../scripts/lib/output.mjs";
import { rotated } from "../numbers.mjs";
import { soakAll } from "./memory.mjs";
import { residentBytes } from "./process.mjs";
import { kindsFor, mustAnswerAlike, send, uploadIsAnswered, writeRequests } from "./requests.mjs";
import { Server, bundle } from "./workerd.mjs";
import { slice, wrk } from "./wrk.mjs";

const WORKERS = join(import.meta.dirname, "workers");
const SETTLE_MS = 300;
const UPLOADS = 20;

/** Ours first; `limit`: answers without doing the work. */
const ENTRIES = [
  { name: "impact-pledge", main: (root) => join(root, "build", "worker.js") },
  { name: "Hono + zod, as usual", main: () => join(WORKERS, "hono", "usual.mjs"), keepNames: true },
  { name: "Hono + zod, tuned", main: () => join(WORKERS, "hono", "tuned.mjs") },
  { name: "one KV call", main: () => join(WORKERS, "floor.mjs"), limit: true },
  { name: "empty Worker", main: () => join(WORKERS, "empty.mjs"), limit: true },
];

/** Which kinds of requests each limit is measured for. */
const KINDS_OF_LIMITS = {
  "one KV call": ["POST small", "POST of 100 pledges", "GET small", "GET of 100 pledges"],
  "empty Worker": ["POST small", "POST of 100 pledges", "GET small"],
};

/**
 * @typedef {object} Plan
 * @property {number} rounds
 * @property {number} seconds of a slice
 * @property {number} starts of a process
 * @property {number} soak how many mixed requests
 */

/**
 * @param {import("../../../scripts/lib/tools.mjs").Tools} tools
 * @param {Plan} plan
 * @param {string} folder for what is made on the way
 */
export async function contest(tools, plan, folder) {
  const program = await wrk();
  const { entries: seeds } = await seedData(tools);
  const bundles = await bundleAll(tools, folder);
  const starts = await coldStarts(tools, bundles, seeds, plan);
  const servers = await startAll(tools, bundles, seeds);
  try {
    await prepare(servers, folder);
    const uploads = await tryUploads(servers);
    const load = await loadAll(program, servers, plan);
    await endAll(servers);
    const soaks = await soakFresh(program, tools, { bundles, seeds, folder, count: plan.soak });
    return {
      uploads,
      upload: bundles.map(({ name, upload }) => ({ name, ...upload })),
      starts,
      ...load,
      soaks,
    };
  } finally {
    await endAll(servers);
  }
}

const endAll = (servers) => Promise.all(servers.map(({ server }) => server.end()));

/**
 * In processes of their own, which can be looked into; the KV call alone beside them shows what is
 * the platform's.
 */
async function soakFresh(program, tools, { bundles, seeds, folder, count }) {
  if (count === 0) return [];
  const servers = await startAll(
    tools,
    bundles.filter(({ name }) => name !== "empty Worker"),
    seeds,
    { inspected: true },
  );
  try {
    await prepare(servers, folder);
    return await soakAll(program, servers, count);
  } finally {
    await endAll(servers);
  }
}

async function bundleAll(tools, folder) {
  const bundles = [];
  for (const [index, { name, main, limit, keepNames }] of ENTRIES.entries()) {
    log(`service: bundling ${name}`);
    bundles.push({
      name,
      limit,
      ...(await bundle(tools, {
        main: main(tools.root),
        keepNames,
        folder: join(folder, `worker-${index}`),
      })),
    });
  }
  return bundles;
}

/** From the start of the process to its first answer, and to its first create. */
async function coldStarts(tools, bundles, seeds, { starts }) {
  const results = bundles.map(({ name }) => ({ name, answer: [], create: [] }));
  for (let round = 0; round < starts; round += 1) {
    log(`service: start ${round + 1} of ${starts}`);
    for (const index of rotated([...bundles.keys()], round)) {
      const { answer, create } = await coldStart(tools, bundles[index], seeds);
      results[index].answer.push(answer);
      results[index].create.push(create);
    }
  }
  return results;
}

async function coldStart(tools, entry, seeds) {
  const server = await Server.start(tools, entry);
  try {
    await send(server.origin, {
      method: "GET",
      path: "/v2/pledge-transaction/none",
      headers: {},
    }).catch(() => null);
    const answer = performance.now() - server.spawnedAt;
    await server.seed(seeds);
    const started = performance.now();
    if (!entry.limit) await createOnce(server.origin);
    return { answer, create: entry.limit ? null : performance.now() - started };
  } finally {
    await server.end();
  }
}

async function createOnce(origin) {
  const body = JSON.stringify({
    reference: "order-1",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  });
  const headers = {
    authorization: "Bearer service_sk_test_dev_unit",
    "content-type": "application/json",
  };
  const { status } = await send(origin, {
    method: "POST",
    path: "/v2/pledge-transaction",
    headers,
    body,
  });
  if (status !== 200) throw new Error(`the first create was answered with ${status}`);
}

async function startAll(tools, bundles, seeds, how) {
  const servers = [];
  for (const entry of bundles) {
    const server = await Server.start(tools, entry, how);
    await server.seed(seeds);
    servers.push({ ...entry, server });
  }
  return servers;
}

/** Makes each its requests, and makes sure that all do the same work. */
async function prepare(servers, folder) {
  const full = servers.filter(({ limit }) => !limit);
  for (const entry of full) entry.kinds = await kindsFor(entry.server.origin);
  const [ours, ...rivals] = full.map(({ name, server, kinds }) => ({
    name,
    origin: server.origin,
    kinds,
  }));
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

/** The limits hold no records of their own: what they pass on is put there first. */
async function kindsOfLimit({ name, server }, kinds) {
  const chosen = kinds
    .filter((kind) => KINDS_OF_LIMITS[name].includes(kind.name))
    .map((kind) => ({ ...kind }));
  for (const kind of chosen.filter(({ name }) => name.startsWith("GET"))) {
    const path = kind.requests[0].path;
    const { body } = kinds.find(({ name }) => name === kind.name.replace("GET", "POST"))
      .requests[0];
    await server.seed([
      { key: `transaction:${path.slice(path.lastIndexOf("/") + 1)}`, value: body },
    ]);
    kind.requests = kind.requests.slice(0, 1);
  }
  return chosen;
}

/** How many refused uploads each answers. */
async function tryUploads(servers) {
  const results = [];
  for (const { name, server } of servers.filter(({ limit }) => !limit)) {
    let answered = 0;
    for (let attempt = 0; attempt < UPLOADS; attempt += 1)
      answered += Number(await uploadIsAnswered(server.origin));
    results.push({ name, answered, of: UPLOADS });
  }
  return results;
}

async function loadAll(program, servers, { rounds, seconds }) {
  const names = servers[0].kinds.map(({ name }) => name);
  const results = new Map(
    servers.map(({ name }) => [name, Object.fromEntries(names.map((kind) => [kind, []]))]),
  );
  for (const kind of names) {
    log(`service: warming up, ${kind}`);
    for (const entry of servers) await sliceOf(program, entry, kind, 1);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of names) {
      log(`service: round ${round + 1} of ${rounds}, ${kind}`);
      for (const entry of rotated(servers, round)) {
        const one = await sliceOf(program, entry, kind, seconds);
        if (one) results.get(entry.name)[kind].push(one);
      }
    }
  }
  const memory = servers
    .filter(({ limit }) => !limit)
    .map(({ name, server }) => ({ name, bytes: residentBytes(server.pid) }));
  return { load: Object.fromEntries(results), memory };
}

async function sliceOf(program, { server, kinds }, name, seconds) {
  const kind = kinds.find((kind) => kind.name === name);
  if (!kind) return null;
  const { file, connections, status } = kind;
  await sleep(SETTLE_MS); // what the last one left to collect
  return slice(program, {
    origin: server.origin,
    pid: server.pid,
    file,
    connections,
    seconds,
    errors: status >= 400 ? "all" : "none",
  });
}
