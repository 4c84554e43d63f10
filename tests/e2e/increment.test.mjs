/** Tests incremental backups: their contents, and that a full backup with all its increments restores the namespace. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { recordsOf } from "../../scripts/lib/backup-reader.mjs";
import { backup } from "../../scripts/lib/backup.mjs";
import { increment } from "../../scripts/lib/increment.mjs";
import { operate } from "../../scripts/lib/operations.mjs";
import { operator, portOf } from "../../scripts/lib/operator.mjs";
import { restore } from "../../scripts/lib/restore.mjs";
import { deployedLedger } from "./cloudflare.mjs";
import { contents, localKv, run, scratch, tools } from "./script.mjs";

const rules = await operator(tools);
const local = async (t) => ({ kv: await localKv(t) });
const deployed = (t) => deployedLedger(t, { page: 100 });
const REPLAY = "ab".repeat(31);
const SETTLEMENT = "settlement:live:unit_dev:2026-01";
const ERASED = /"erased@erased\.invalid"/;

/** Opens a namespace with transactions from several months. The ledger has a row for each of them. */
async function opened(t, open) {
  const { kv } = await open(t);
  const port = portOf(kv);
  await rules.seed(port);
  await rules.seedDemo(port, "http://127.0.0.1:8787");
  await operate(tools, port, "ledger", "check");
  const folder = scratch(t);
  const old = await Array.fromAsync(kv.list("transaction:"));
  const path = (name) => join(folder, `${name}.jsonl`);
  return { kv, port, old, path };
}

/** Writes a new transaction that is a copy of an existing one, with its own replay record. */
async function order(kv, like, number) {
  const [{ value, metadata }] = await Array.fromAsync(kv.read([like]));
  const createdAt = new Date().toISOString();
  const name = `${like.slice(0, -10)}${"234567bcdf"[number].repeat(9)}a`;
  const replay = `${REPLAY}0${number}`;
  const { erased: _, ...summary } = { ...metadata.summary, createdAt, replay };
  const replayName = `idempotency:${replay}`;
  await kv.write([
    {
      key: name,
      value: JSON.stringify({ ...JSON.parse(value), createdAt }),
      metadata: { ...metadata, summary },
    },
    { key: replayName, value: `{"id":"${name}"}` },
  ]);
  return [name, replayName];
}

/** Returns all records that a restore writes. */
async function restorable(kv) {
  const all = Object.entries(await contents(kv));
  return all.filter(
    ([name]) => !/^(backup|epoch|usage|mailed|mail-queued|ledger-unsent)\b/.test(name),
  );
}

/** Records what was done for the pledges of a month. */
async function fulfil(kv, quantity) {
  const args = ["add", "2026-01", "tree", quantity, "--done-on", "2026-01-20", "--yes"];
  const { code, problem } = await run("fulfilments", args, { kv });
  assert.equal(code, 0, problem);
}

/** Returns the quantities of all recorded fulfilments, or why the fulfilments cannot be read. */
async function fulfilled(kv) {
  const args = ["--month", "2026-01", "--json"];
  const balance = await run("fulfilments", ["balance", ...args], { kv });
  if (balance.code !== 0) return balance.problem;
  const { out } = await run("fulfilments", ["list", ...args], { kv });
  return JSON.parse(out)
    .fulfilments.map(({ quantity }) => quantity)
    .sort();
}

const namesIn = async (file) => (await Array.fromAsync(recordsOf(file))).map(({ name }) => name);
async function wipe(kv) {
  await kv.remove(await Array.fromAsync(kv.names()));
}

for (const [name, open] of Object.entries({ local, deployed }))
  test(`${name}: a full backup and its increments restore the namespace`, async (t) => {
    const { kv, port, old, path } = await opened(t, open);
    const [erased, untouched, like] = old.map(({ name }) => name);
    const [key] = await Array.fromAsync(kv.names("key:"));
    await fulfil(kv, "1");
    await backup(kv, path("full"), rules);

    await fulfil(kv, "2");
    const first = await order(kv, like, 1);
    await kv.write([{ key: SETTLEMENT, value: "{}" }]);
    const id = erased.slice("transaction:".length);
    const done = await run("transactions", ["erase", id, "--yes"], { kv });
    assert.equal(done.code, 0, done.problem);
    await kv.remove([key]);
    await operate(tools, port, "ledger", "check");
    const one = await increment(kv, path("one"), path("full"), rules);
    const names = await namesIn(path("one"));
    for (const name of [...first, erased, `erased:${id}`, SETTLEMENT, "secret"])
      assert.ok(names.includes(name), name);
    assert.ok(!names.includes(untouched) && !names.includes(key));
    const afterOne = await restorable(kv);
    await fulfil(kv, "3");

    const second = await order(kv, like, 2);
    await kv.remove([SETTLEMENT]);
    await operate(tools, port, "ledger", "check");
    const two = await increment(kv, path("two"), path("one"), rules);
    assert.equal(two.since, one.completeUpTo);
    const later = await namesIn(path("two"));
    assert.ok(second.every((name) => later.includes(name)) && !later.includes(SETTLEMENT));
    const afterTwo = await restorable(kv);

    const options = { withKeys: true, waitMs: 0 };
    for (const [files, expected, done] of [
      [["full", "one", "two"], afterTwo, ["1", "2", "3"]],
      [["full", "one"], afterOne, ["1", "2"]],
    ]) {
      await kv.ledger?.script("DELETE FROM fulfilments; DELETE FROM epoch;");
      assert.match(String(await fulfilled(kv)), /`transactions restore`/);
      await wipe(kv);
      await restore(kv, files.map(path), rules, options);
      assert.deepEqual(await restorable(kv), expected);
      assert.deepEqual(await fulfilled(kv), done);
    }
    assert.match(String(await kv.get(erased)), ERASED);
  });

test("files that are not a full backup and its increments are refused, and nothing is written", async (t) => {
  const { kv, path } = await opened(t, local);
  await backup(kv, path("full"), rules);
  await backup(kv, path("other"), rules);
  await increment(kv, path("one"), path("full"), rules);
  await increment(kv, path("two"), path("one"), rules);
  await wipe(kv);
  const continues =
    /continues the backup of .*, not .*. A backup between these two files is missing, or their order is wrong/;
  for (const [files, problem] of [
    [["one"], /one\.jsonl is an incremental backup: name the full backup first/],
    [["full", "two"], continues],
    [["full", "two", "one"], continues],
    [["full", "one", "one"], continues],
    [["other", "one"], continues],
    [["full", "other"], /other\.jsonl is a full backup: only the first file may be a full backup/],
    [["full", "none"], /there is no file/],
  ])
    await assert.rejects(restore(kv, files.map(path), rules, { waitMs: 0 }), problem);
  assert.deepEqual(await Array.fromAsync(kv.names()), []);
});

test("the commands write and restore increments, and the ledger is complete at the end", async (t) => {
  const { kv, old, path } = await opened(t, local);
  const json = async (...args) => {
    const { code, out, problem } = await run("transactions", [...args, "--json"], { kv });
    assert.equal(code, 0, problem);
    return JSON.parse(out);
  };
  const none = ["backup", path("none"), "--since", path("full")];
  assert.match((await run("transactions", none, { kv })).problem, /there is no file/);
  await json("backup", path("full"));
  await order(kv, old[0].name, 3);
  await operate(tools, portOf(kv), "ledger", "check");
  const { completeUpTo, recorded } = await json("backup", path("one"), "--since", path("full"));
  assert.ok(recorded && Date.parse(completeUpTo) < Date.now() - 100_000);
  await wipe(kv);
  const restored = await json("restore", path("full"), path("one"));
  assert.ok(Date.parse(restored.completeUpTo) >= Date.parse(completeUpTo));
  const count = { sql: "SELECT json_quote(count(*)) FROM transactions", parameter: "" };
  assert.deepEqual(await kv.ledger.run([count]), [[String(old.length + 1)]]);
});

test("an increment needs a ledger that is complete", async (t) => {
  const { kv, path } = await opened(t, local);
  await backup(kv, path("full"), rules);
  await kv.ledger.run([{ sql: "UPDATE reconciliation SET completed = NULL", parameter: "" }]);
  const attempt = () => increment(kv, path("one"), path("full"), rules);
  await assert.rejects(attempt(), /Either run `npm run ledger -- check` and repeat this command/);
  kv.ledger = null;
  await assert.rejects(attempt(), /this needs the ledger/);
});
