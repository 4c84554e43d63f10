/** Counts what a transaction costs: the calls and rows of the built Workers on workerd, and the bytes that are stored. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seedData } from "../../../scripts/lib/seed.mjs";
import { tools } from "../../e2e/script.mjs";
import { startDashboard } from "../../server/dashboard-worker.mjs";
import { until } from "../../support/until.mjs";

const HERE = import.meta.dirname;
const PATH = "/v2/pledge-transaction";
const OPERATOR = "operator@small-hours.example";
const LIVE = "service_sk_live_dev_unit";
/** Messages come in batches, as the queue delivers them. All batches have more transactions than a page of a pass, 1,000. */
const BATCH = 100;
const BATCHES = 12;
/** The service caches records of a unit for 10 s. */
const CACHED_MS = 11_000;
/** After this time, in milliseconds, the Worker has also written its own state. */
const SETTLED_MS = 1_000;
const ORIGIN = "http://127.0.0.1";

/**
 * What a transaction with one pledge costs, at most: created with an idempotency key, read once by the API, and opened once by its
 * recipient, each by an isolate that knows nothing of the unit.
 * @typedef {object} Counted
 * @property {{kvReads: number, kvWrites: number, kvLists: number, kvDeletes: number, messages: number, requests: number}} calls
 * @property {{rowsWritten: number, rowsRead: number}} ledger of its message, as one of a batch of 100
 * @property {{kv: number}} bytes of its records
 * @property {{kvLists: number, ledgerCalls: number, rowsRead: number}} pass of the reconciliation, for 1,000 records
 */

/** @returns {Promise<Counted>} */
export async function count() {
  const platform = await start();
  try {
    const { calls, bytes } = await ofRequests(platform);
    return { calls, bytes: { kv: bytes }, ...(await ofLedger(platform)) };
  } finally {
    await platform.close();
  }
}

async function start() {
  const main = (name) => join("tests", "proofs", "scale", name);
  const configPath = join(HERE, "wrangler.json");
  const vars = { OPERATORS: OPERATOR };
  const dashboard = await startDashboard({
    main: main("dashboard.mjs"),
    email: OPERATOR,
    vars,
    others: [{ configPath }],
  });
  const { entries } = await seedData(tools);
  for (const { key, value, metadata } of entries) await dashboard.kv.put(key, value, { metadata });
  const service = dashboard.harness.getWorker("service");
  return { ...dashboard, service, entries };
}

const takenBy = async (worker) => (await worker.fetch(`${ORIGIN}/counts`)).json();

/**
 * Counts the calls for a unit, and the bytes of its records. The caches of the isolate expire between the requests, as if each came to
 * another isolate.
 */
async function ofRequests({ service, kv, entries }) {
  const record = JSON.parse(entries.find(({ key }) => key === nameOf(LIVE)).value);
  const key = "service_sk_live_scale";
  await kv.put(nameOf(key), JSON.stringify({ ...record, unit: "unit_scale" }));
  await takenBy(service);
  const { id, timelineUrl } = await create(service, key, 0);
  await sleep(CACHED_MS);
  await answered(service, `${PATH}/${id}`, { authorization: `Bearer ${key}` });
  await sleep(CACHED_MS);
  await answered(service, timelineUrl.replace(/^https?:\/\/[^/]*/, ""));
  const { counts, messages } = await takenBy(service);
  const calls = { kvReads: 0, kvWrites: 0, kvLists: 0, kvDeletes: 0, ...counts };
  return {
    calls: { ...calls, messages: messages.length, requests: 3 },
    bytes: await bytesOf(kv, id),
  };
}

const nameOf = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

const ORDER = {
  recipient: { email: "ada@example.org", name: "Ada Example" },
  pledges: [
    {
      impact: { amount: 3, offeringId: "tree" },
      detail: { nounSingular: "tree", nounPlural: "trees" },
    },
  ],
};

async function create(service, key, number) {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": `order-${number}`,
  };
  const body = JSON.stringify({ reference: `order-${number}`, ...ORDER });
  const answer = await service.fetch(`${ORIGIN}${PATH}`, { method: "POST", headers, body });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

async function answered(service, path, headers = {}) {
  const answer = await service.fetch(`${ORIGIN}${path}`, { headers });
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
}

/** Returns the bytes of a transaction's records: names, metadata and values. */
async function bytesOf(kv, id) {
  const name = `transaction:${id}`;
  const { metadata, value } = await kv.getWithMetadata(name);
  const replay = `idempotency:${metadata.summary.replay}`;
  const other = await kv.getWithMetadata(replay);
  const texts = [name, value, JSON.stringify(metadata), replay, other.value];
  return Buffer.byteLength(texts.join("") + JSON.stringify(other.metadata ?? ""));
}

/**
 * Counts what the consumer of the ledger's queue does with batches of messages of one unit, and what a pass of the reconciliation does
 * with more records. The first batch and the first pass, which find nothing, are not counted.
 */
async function ofLedger(platform) {
  await receive(platform, 0);
  const first = await passed(platform);
  for (let batch = 1; batch < BATCHES; batch++) await receive(platform, batch);
  const received = await countsOf(platform);
  await platform.db.exec("UPDATE reconciliation SET completed = 0"); // otherwise the next pass is due in an hour
  const second = await passed(platform);

  const records = (BATCHES - 1) * BATCH;
  const ofEach = (name) => Math.round(((received[name] ?? 0) / records) * 100) / 100;
  const more = (name) => (second[name] ?? 0) - (first[name] ?? 0);
  return {
    ledger: { rowsWritten: ofEach("rowsWritten"), rowsRead: ofEach("rowsRead") },
    pass: {
      kvLists: more("kvLists"), // the second pass reads one page more
      ledgerCalls: more("ledgerCalls"),
      rowsRead: Math.round((more("rowsRead") / records) * 1_000),
    },
  };
}

/** Creates transactions, and delivers their messages to the ledger as one batch. */
async function receive({ service, queue, db }, batch) {
  await takenBy(service);
  for (let index = 0; index < BATCH; index++) await create(service, LIVE, batch * BATCH + index);
  const { messages } = await takenBy(service);
  assert.equal(messages.length, BATCH);
  await queue.sendBatch(messages.map((body) => ({ body })));
  const rows = async () => (await db.prepare("SELECT count(*) AS n FROM transactions").first()).n;
  await until(async () => (await rows()) >= (batch + 1) * BATCH);
}

/** Runs the cron, and returns what it did. */
async function passed(platform) {
  await countsOf(platform);
  await platform.scheduled();
  return countsOf(platform);
}

/** Returns what the dashboard's Worker did since the last call. */
async function countsOf({ harness }) {
  await sleep(SETTLED_MS);
  return (await takenBy(harness.getWorker("dashboard"))).counts;
}
