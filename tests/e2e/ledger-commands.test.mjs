/** Tests `npm run ledger` on local records and on those of a deployed service. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { operator as functions, portOf } from "../../scripts/lib/operator.mjs";
import { deployedLedger } from "./cloudflare.mjs";
import { contents, localKv, run, scratch, tools } from "./script.mjs";

const local = async (t) => ({ kv: await localKv(t) });
const COUNT = { sql: "SELECT json_quote(count(*)) FROM transactions", parameter: "" };

/** Writes demo records of several months, as `npm start` does. The ledger does not contain them yet, except for the erased one. */
async function records(t, open) {
  const { kv } = await open(t);
  const { seed, seedDemo } = await functions(tools);
  await seed(portOf(kv));
  await seedDemo(portOf(kv), "http://127.0.0.1:8787");
  const names = await Array.fromAsync(kv.names("transaction:"));
  const count = async () => Number(await kv.ledger.run([COUNT]));
  const command = async (code, ...args) => {
    const ended = await run("ledger", args, { kv });
    assert.equal(ended.code, code, ended.problem || ended.out);
    return ended.out;
  };
  const json = async (code, ...args) => JSON.parse(await command(code, ...args, "--json"));
  return { kv, names, count, command, json };
}

const deployed = (t) => deployedLedger(t, { page: 100 });

for (const [name, open] of Object.entries({ local, deployed }))
  test(`${name}: a check adds, corrects and removes rows, lists findings, and the status shows it`, async (t) => {
    const { kv, names, count, command, json } = await records(t, open);
    assert.ok(names.length > 20);
    assert.match(await command(1, "status"), /^Complete up to +not yet$/m);
    const none = { wrong: 0, gone: 0, damaged: 0, large: 0, refused: 0, findings: [] };
    const known = await count(); // the erased transaction: an erasure writes a row
    assert.equal(known, 1);
    const { place, ...first } = await json(0, "check");
    assert.deepEqual(first, { ...none, missing: names.length - known });
    assert.equal(await count(), names.length);

    const [gone, damaged] = names;
    await kv.remove([gone]);
    await kv.write([{ key: damaged, value: "{}", metadata: { mode: "live" } }]);
    await kv.ledger.run([
      { sql: "UPDATE transactions SET unpriced = 7, changed = 0", parameter: "" },
    ]);
    await kv.ledger.run([
      {
        sql: "UPDATE transactions SET created = 1 WHERE id = ?1 ->> '$'",
        parameter: JSON.stringify(gone.slice("transaction:".length)),
      },
    ]);
    const { findings, ...counts } = await json(0, "check");
    assert.deepEqual(counts, {
      place,
      missing: 0,
      wrong: names.length - 2,
      gone: 1,
      damaged: 1,
      large: 0,
      refused: 0,
    });
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ["damaged", "gone"],
    );
    const words = await command(0, "check");
    assert.match(words, /^different from their records +0 +corrected$/m);
    assert.match(words, new RegExp(`^damaged +${damaged} .*\\S+Z$`, "m"));
    const status = await json(0, "status");
    assert.deepEqual(
      [status.problem, status.findings.length, status.lastPass.mended],
      [null, 2, 0],
    );
    assert.ok(Date.now() - Date.parse(status.completeUpTo) > 120_000);
  });

test("a rebuild asks for confirmation, and fills the ledger again", async (t) => {
  const { kv, names, count, command, json } = await records(t, local);
  await json(0, "check");
  await kv.ledger.run([{ sql: "UPDATE transactions SET erased = 1, email = NULL", parameter: "" }]);
  const { code, problem } = await run("ledger", ["rebuild"], { kv });
  assert.equal(code, 1);
  assert.match(problem, /nothing was emptied/);
  const words = await command(0, "rebuild", "--yes");
  assert.match(words, new RegExp(`was rebuilt from ${names.length} records`));
  assert.equal(await count(), names.length);
  const sql = "SELECT json_quote(count(*)) FROM transactions WHERE erased = 1";
  assert.deepEqual(await kv.ledger.run([{ sql, parameter: "" }]), [["0"]]);
});

test("transactions before a month can be left out of the ledger, and added again", async (t) => {
  const { kv, names, count, command, json } = await records(t, local);
  await json(0, "check");
  const next = new Date(Date.UTC(new Date().getUTCFullYear() + 1)).toISOString();
  const month = next.slice(0, 7);
  const { code, problem } = await run("ledger", ["keep-from", month], { kv });
  assert.equal(code, 1);
  assert.match(problem, /Workers KV keeps these transactions\..*nothing was changed/s);
  assert.equal((await run("ledger", ["keep-from", "soon"], { kv })).code, 2);
  assert.equal(await count(), names.length);
  const words = await command(0, "keep-from", month, "--yes", "--by", "Ada");
  assert.match(words, new RegExp(`^The ledger keeps only transactions from ${month} on`, "m"));
  assert.equal(await count(), 0);
  assert.equal((await json(0, "status")).keptFrom, next);
  assert.match(
    await command(0, "status"),
    new RegExp(`^Transactions kept +since ${next.replace(".000", "")}$`, "m"),
  );
  const { keptFrom, missing } = await json(0, "keep-from", "all", "--yes", "--by", "Ada");
  assert.deepEqual([keptFrom, missing, await count()], [null, names.length, names.length]);
  const audit = await Array.fromAsync(kv.read(kv.names("audit:")));
  const changes = audit
    .map(({ value }) => JSON.parse(value ?? ""))
    .filter(({ by }) => by === "Ada");
  assert.deepEqual(
    changes.map(({ command, on }) => [command, ...on]).sort(),
    [
      ["ledger keep-from", month],
      ["ledger keep-from", "all"],
    ].sort(),
  );
});

/** Commands that change something, each in a way of its own. */
const CHANGES = [
  ["keys", "create", "--unit", "unit_a", "--mode", "test", "--by", "Ada", "--yes"],
  ["units", "set", "unit_a", "--name", "A", "--by", "Ada", "--yes"],
  ["teams", "add", "team_a", "unit_a", "--by", "Ada", "--yes"],
  [
    "people",
    "add",
    "ada@example.org",
    "--unit",
    "unit_a",
    "--role",
    "viewer",
    "--by",
    "Ada",
    "--yes",
  ],
  ["ledger", "check"],
];

/** Returns the number of rows of each table, and the records of the namespace. */
const stateOf = async (kv, { sqlite }) => {
  const tables = sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const rows = ({ name }) => sqlite.prepare(`SELECT * FROM "${name}"`).all();
  return {
    rows: tables.map((table) => ({ ...table, rows: rows(table) })),
    records: await contents(kv),
  };
};

test("if a batch is not one transaction, commands change nothing and say why, and a key can still be revoked", async (t) => {
  const { kv, account, open } = await deployed(t);
  for (const [name, ...args] of CHANGES) {
    const ended = await run(name, args, { kv: await open() });
    assert.equal(ended.code, 0, ended.problem);
  }
  const file = join(scratch(t), "backup.jsonl");
  assert.equal((await run("transactions", ["backup", file, "--by", "Ada"], { kv })).code, 0);
  const restore = ["transactions", "restore", file, "--overwrite", "--by", "Ada"];
  const [database] = account.databases;
  account.isAtomic = false;
  const before = await stateOf(kv, database);
  const others = CHANGES.map((words) => words.map((word) => word.replace("unit_a", "unit_b")));
  for (const [name, ...args] of [...others, restore]) {
    const { code, out, problem } = await run(name, args, { kv: await open() });
    assert.deepEqual([code, out], [1, ""], name);
    assert.match(
      problem,
      /^stopped: nothing was changed in the ledger: .* as one transaction in this account.* Make the change in the dashboard/,
    );
  }
  assert.deepEqual(await stateOf(kv, database), before);
  const names = await Array.fromAsync(kv.names("key:"));
  const { code, problem } = await run(
    "keys",
    ["revoke", names[0].slice("key:".length), "--by", "Ada", "--yes"],
    { kv: await open() },
  );
  assert.equal(code, 0, problem);
  assert.equal((await Array.fromAsync(kv.names("key:"))).length, names.length - 1);
});

for (const [name, open] of Object.entries({ local, deployed }))
  test(`${name}: \`check-atomic\` says whether a batch is one transaction`, async (t) => {
    const { kv } = await open(t);
    const { code, out, problem } = await run("ledger", ["check-atomic"], { kv });
    assert.equal(code, 0, problem);
    assert.match(out, /^A batch of statements takes effect as a whole or not at all\.$/m);
    const sql = "SELECT json_quote(count(*)) FROM operations";
    assert.deepEqual(await kv.ledger?.run([{ sql, parameter: "" }]), [["0"]]);
  });

test("`check-atomic` says that a batch is not one transaction, or that there is no ledger", async (t) => {
  const { kv, account } = await deployed(t);
  account.isAtomic = false;
  const ended = await run("ledger", ["check-atomic"], { kv });
  assert.equal(ended.code, 1);
  assert.match(
    ended.out,
    /^Cloudflare's API does not run a batch of statements as one transaction/m,
  );
  const { out } = await run("ledger", ["check-atomic", "--json"], { kv });
  assert.equal(JSON.parse(out).atomic, false);
  kv.ledger = null;
  const { code, problem } = await run("ledger", ["check-atomic"], { kv });
  assert.equal(code, 1);
  assert.match(problem, /no database is bound as `LEDGER_DB`: run `npm run deploy -- --dashboard`/);
});

test("without a ledger the commands say what to do", async (t) => {
  const { kv } = await local(t);
  kv.ledger = null;
  const { code, problem } = await run("ledger", ["status"], { kv });
  assert.equal(code, 1);
  assert.match(problem, /no database is bound as `LEDGER_DB`/);
});
