/**
 * Tests the commands `npm run transactions -- backup` and `restore`. backup.test.mjs tests the backup files
 * themselves.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { UserError } from "../../scripts/lib/output.mjs";
import { ENTRIES, ID, LIVE_ID, operator } from "./operator.mjs";
import { contents, scratch } from "./script.mjs";

test("a backup is written and restored", async (t) => {
  const { kv, json, words, fails, command } = await operator(t);
  await kv.write(ENTRIES);
  const [before, began] = [await contents(kv), Date.now()];
  const file = join(scratch(t), "backup.jsonl");
  const [backup, restore] = ["backup", "restore"].map((name) => ["transactions", name, file]);
  const made = await words(...backup, "--by", "ada");
  assert.match(made, new RegExp(`^.*backup\\.jsonl: ${ENTRIES.length} records`));
  const last = await kv.get("backup");
  const { at, ...rest } = JSON.parse(last ?? "");
  assert.deepEqual(rest, { records: ENTRIES.length, by: "ada", version: 1 });
  assert.ok(Date.parse(at) >= began && Date.parse(at) <= Date.now(), at);
  await fails(backup, `${file} already exists, and is not overwritten: choose another name`);
  const { write } = kv;
  kv.write = () => Promise.reject(new UserError("this token may only read"));
  const { out, problem } = await command(0, ["transactions", "backup", `${file}l`, "--json"]);
  assert.deepEqual([JSON.parse(out).recorded, await kv.get("backup")], [false, last]);
  assert.match(
    problem,
    /^The backup is complete, but could not be recorded as the last backup: this token may/m,
  );
  kv.write = write;
  await kv.remove([...Object.keys(before), "backup"]);
  const { from, written, secretReplaced } = await json(...restore, "--with-keys", "--yes");
  assert.deepEqual([from.place, written, secretReplaced], [kv.place, ENTRIES.length, false]);
  assert.deepEqual(await unaudited(kv), before);
  await kv.write([{ key: "catalogue:test", value: "{}" }]);
  await fails(
    restore,
    /^the namespace has a different record `catalogue:test`, so nothing was overwritten/,
  );
  const done =
    /^1 records of .+ were written and read back, \d+ were already there, 0 have expired since the backup, 0 stay erased, 5 were left out\./;
  assert.match(await words(...restore, "--overwrite"), done);
  assert.deepEqual(await unaudited(kv), before);
});

/** Returns all records except the audit log. */
async function unaudited(kv) {
  const all = Object.entries(await contents(kv));
  return Object.fromEntries(all.filter(([name]) => !name.startsWith("audit:")));
}

test("a restore brings back no erased person and no revoked key", async (t) => {
  const { kv, json, words, command, names } = await operator(t);
  const member = { key: "member:shop:web", value: "{}" };
  await kv.write([...ENTRIES, member]);
  const folder = scratch(t);
  const [early, late] = ["early", "late"].map((name) => join(folder, `${name}.jsonl`));
  assert.ok((await json("transactions", "backup", early)).recorded);
  await json("transactions", "erase", ID, "--yes");
  const [key] = (await names()).filter((name) => name.startsWith("key:9a9bc3c4"));
  await command(0, ["keys", "revoke", key, "--yes"]);
  await kv.remove([member.key]);
  await json("transactions", "backup", late);
  const erased = await contents(kv);

  const restore = ["transactions", "restore", early, "--overwrite"];
  const { written, erased: kept, left, keys, sha256 } = await json(...restore);
  assert.deepEqual([written, kept, left, keys.count], [0, 1, 6, 1]);
  const now = await contents(kv);
  const [change] = Object.keys(now).filter((name) => !(name in erased));
  const { command: by, on } = JSON.parse(now[change].value);
  assert.deepEqual([by, on], ["transactions restore", [sha256]]);
  delete now[change];
  assert.deepEqual(now, erased);
  assert.match(await words(...restore), /^9a9bc3c4ae87 {2}live {2}unit_dev$/m);
  await kv.remove([`transaction:${ID}`]); // the mark stays
  assert.deepEqual((await json(...restore)).written, 1);
  const again = (await contents(kv))[`transaction:${ID}`];
  assert.equal(again.value, erased[`transaction:${ID}`].value);
  assert.doesNotMatch(JSON.stringify(again.metadata), /lookup/);

  await kv.remove(Object.keys(await contents(kv)));
  for (const file of [late, early]) await json(...restore.with(2, file));
  const all = Object.entries(await contents(kv)).filter(([name]) => name in erased);
  const isLeft = /^(?:key:|member:|backup$)/;
  const noKeys = Object.entries(erased).filter(([name]) => !isLeft.test(name));
  assert.deepEqual(Object.fromEntries(all), Object.fromEntries(noKeys));

  const withKeys = [...restore, "--with-keys"];
  const { problem } = await command(1, withKeys);
  assert.match(
    problem,
    /^9a9bc3c4ae87 {2}live {2}unit_dev\n(?:.*\n)*stopped: Restore these API keys/m,
  );
  assert.ok(!(await names()).includes(key));
  assert.deepEqual((await json(...withKeys, "--yes")).keys.count, 3);
  assert.ok((await names()).includes(key));
});

test("credits, fulfilments and updates come back with the records", async (t) => {
  const { kv, json, words, fails, command } = await operator(t);
  await kv.write(ENTRIES);
  await json("ledger", "check");
  const by = ["--by", "ada", "--yes"];
  await json("credits", "add", LIVE_ID, "--amount", "0.50", "--reason", "Returned", ...by);
  await json("credits", "request", LIVE_ID, "--amount", "0.10", "--reason", "Refunded", ...by);
  await json("fulfilments", "add", "2026-01", "tree", "1", "--done-on", "2026-01-20", ...by);
  const folder = scratch(t);
  const [file, lost] = ["now", "lost"].map((it) => join(folder, `${it}.jsonl`));
  const { rows } = await json("transactions", "backup", file);
  assert.equal(rows, 7); // one describes the database, and three are entries of the audit log
  const shown = () => json("credits", "list", LIVE_ID);
  const before = await shown();
  const empty = async () => {
    const { ledger } = kv;
    assert.ok(ledger);
    const tables = ["credits", "credit_requests", "fulfilments", "epoch"];
    await ledger.script(tables.map((table) => `DELETE FROM ${table};`).join(""));
  };

  await empty();
  const { out } = await command(1, ["ledger", "status", "--json"]);
  assert.match(JSON.parse(out).problem, /has lost people, credits, fulfilments or updates/);
  await fails(["credits", "list", LIVE_ID], /Run `transactions restore` with a backup/);
  assert.match((await json("transactions", "backup", lost)).lacks, /has lost people, credits/);
  await kv.write([{ key: "catalogue:test", value: "{}" }]); // a newer record
  const only = ["transactions", "restore", file, "--only", "ledger"];
  assert.equal((await json(...only)).ledger.rows.credits.written, 1);
  assert.deepEqual([await shown(), await kv.get("catalogue:test")], [before, "{}"]);
  await empty();
  for (const written of [1, 0]) {
    await kv.remove(await Array.fromAsync(kv.names()));
    const { ledger } = await json("transactions", "restore", file, "--with-keys", "--yes");
    const table = { written, known: 1 - written, refused: [] };
    const none = { written: 0, known: 0, refused: [] };
    const audit = { written: 0, known: 3, refused: [] };
    const { credits, requests, fulfilments, audit: log, ...others } = ledger.rows;
    assert.deepEqual([credits, requests, fulfilments, log], [table, table, table, audit]);
    assert.ok(Object.values(others).length > 5);
    for (const other of Object.values(others)) assert.deepEqual(other, none);
    assert.deepEqual(await shown(), before);
  }

  await empty();
  await kv.remove(await Array.fromAsync(kv.names()));
  const said = await words("transactions", "restore", lost, "--with-keys", "--yes");
  assert.match(said, /The backup has no people of shops, credits, fulfilments and updates/);
  assert.match(said, /The database has lost them, .*To go on without them, run .*accept-loss/);
  await fails(["credits", "list", LIVE_ID], /Run `transactions restore` with a backup/);
  await json("ledger", "accept-loss", "--yes");
  assert.deepEqual((await shown()).credits, []);
});
