/** Tests that the dashboard's cron makes backups in a bucket of R2, which `restore` brings back to an empty place. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { fetchBackup } from "../../scripts/lib/fetch-backup.mjs";
import { operator } from "../../scripts/lib/operator.mjs";
import { restore } from "../../scripts/lib/restore.mjs";
import { ENTRIES } from "../e2e/operator.mjs";
import { localKv, scratch, tools } from "../e2e/script.mjs";
import { startDashboard } from "./dashboard-worker.mjs";

const MAIN = join("build", "dashboard", "worker.js");
const PERSON = "ada@example.org";
const WISH = { main: MAIN, email: PERSON, vars: { OPERATORS: PERSON }, hasBucket: true };
const MOST_RUNS = 12; // of the cron
const EXPIRATION = Math.round(Date.now() / 1000) + 86_400;
const BINARY = new Uint8Array([0xff, 0xfe, 0]);
const ROW = { name: "audit:1", content: '{"command":"a test"}' };

/** Returns the commands' view of a bucket. */
const asBucket = (bucket) => ({
  async bytes(name) {
    const object = await bucket.get(name);
    return object && Buffer.from(await object.arrayBuffer());
  },
});

/** Runs the cron until both kinds of backups are complete. Returns the index. */
async function backedUp({ scheduled, bucket }) {
  for (let run = 0; run < MOST_RUNS; run += 1) {
    await scheduled();
    const index = await (await bucket.get("index.json"))?.json();
    if (index?.complete.length === 2) return index;
  }
  throw new Error(`no two backups after ${MOST_RUNS} runs`);
}

test("the cron backs up records and rows, and a restore brings them back", async (t) => {
  const dashboard = await startDashboard(WISH);
  t.after(dashboard.close);
  const { kv: source, db, bucket } = dashboard;
  for (const { key, value, metadata } of ENTRIES) await source.put(key, value, { metadata });
  await source.put("any:binary", BINARY, { expiration: EXPIRATION });
  for (let number = 0; number < 250; number += 1)
    await source.put(`any:${number}`, `é${number}`, { metadata: { number } });
  await db
    .prepare(
      "INSERT INTO people VALUES ('unit:unit_dev', 'ada@shop.example', 'manager', 1, 'Ada', 0)",
    )
    .run();
  await db
    .prepare("INSERT INTO audit (name, content) VALUES (?1, ?2)")
    .bind(ROW.name, ROW.content)
    .run();
  const { complete, current } = await backedUp(dashboard);
  assert.deepEqual([complete.map(({ kind }) => kind), current], [["ledger", "full"], null]);
  await assertReported(dashboard, complete);
  const last = JSON.parse((await source.get("backup")) ?? "");
  assert.deepEqual([last.records, last.by], [complete[1].records, "the dashboard's cron"]);

  const file = join(scratch(t), "full.jsonl");
  await fetchBackup(asBucket(bucket), "full", file);
  const [kv, rules] = [await localKv(t), await operator(tools)];
  const done = await restore(kv, [file], rules, { withKeys: true, waitMs: 0 });
  assert.equal(done.count, complete[1].records);
  assert.deepEqual(done.ledger?.rows?.audit, { written: 1, known: 0, refused: [] });
  const restored = new Map(
    (await Array.fromAsync(kv.list())).map((record) => [record.name, record]),
  );
  for (const { key, value, metadata } of ENTRIES) {
    assert.deepEqual(restored.get(key)?.metadata, metadata, key);
    assert.equal(await kv.get(key), value);
  }
  assert.deepEqual(restored.get("any:7")?.metadata, { number: 7 });
  assert.equal(await kv.get("any:7"), "é7");
  assert.equal(restored.get("any:binary")?.expiration, EXPIRATION);
  assert.deepEqual(await kv.bytes("any:binary"), Buffer.from(BINARY));

  await assertLedgerRestored(t, bucket, rules);
  await assertRefusals(t, { bucket, complete });
  const onlyIf = { etagDoesNotMatch: "*" }; // the dashboard's condition for its first write
  assert.equal(await bucket.put("index.json", "{}", { onlyIf }), null);
});

/** Asserts that `/healthz` says when the newest backups began, and that a bucket whose index is damaged is a failure. */
async function assertReported({ origin, bucket, scheduled }, complete) {
  const backups = async () => (await (await fetch(`${origin}/healthz`)).json()).ledger.backups;
  const began = new Date(complete[1].started).toISOString();
  assert.deepEqual(await backups(), { full: began, ledger: began });
  const index = await (await bucket.get("index.json")).text();
  await bucket.put("index.json", "{");
  await scheduled();
  const { failingSince, ...rest } = await backups();
  assert.ok(Date.parse(failingSince) > complete[1].started);
  assert.deepEqual(rest, { full: began, ledger: began });
  await bucket.put("index.json", index);
  await scheduled();
  assert.deepEqual(await backups(), { full: began, ledger: began });
}

/** Asserts that the backup of the ledger's rows brings them back to an empty place. */
async function assertLedgerRestored(t, bucket, rules) {
  const file = join(scratch(t), "ledger.jsonl");
  await fetchBackup(asBucket(bucket), "ledger", file);
  const kv = await localKv(t);
  const done = await restore(kv, [file], rules, { withKeys: true, waitMs: 0 });
  const { audit, people } = done.ledger?.rows ?? {};
  assert.deepEqual([done.count, audit?.written, people?.written], [0, 1, 1]);
}

/** Asserts that a backup which is unknown, incomplete or was changed is not copied. */
async function assertRefusals(t, { bucket, complete }) {
  const to = () => join(scratch(t), "backup.jsonl");
  await assert.rejects(
    fetchBackup(asBucket(bucket), "monday", to()),
    /no complete backup `monday`/,
  );
  const [part] = complete[0].parts;
  const bytes = Buffer.from(await (await bucket.get(part)).arrayBuffer());
  await bucket.put(part, String(bytes).replace("a test", "a joke"));
  await assert.rejects(fetchBackup(asBucket(bucket), "ledger", to()), /SHA-256 differs/);
  await bucket.delete(part);
  await assert.rejects(fetchBackup(asBucket(bucket), "ledger", to()), /the bucket lacks `ledger-/);
}
