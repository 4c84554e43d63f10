/**
 * Tests how commands reach the ledger: on this machine, or through Cloudflare's API. In some tests, the API
 * fails.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { openKv } from "../../scripts/lib/kv.mjs";
import { changes } from "../../scripts/lib/atomic.mjs";
import { Ledger } from "../../scripts/lib/ledger.mjs";
import { migrate } from "../../scripts/lib/migrations.mjs";
import { portOf } from "../../scripts/lib/operator.mjs";
import { deployedLedger } from "./cloudflare.mjs";
import { MIGRATIONS, localKv, scratch, tools } from "./script.mjs";

const local = async (t) => ({ kv: await localKv(t) });

const ADD = "INSERT INTO scopes (mode, unit) SELECT 'test', value FROM json_each(?1)";
const COUNT = "SELECT json_array(count(*)) FROM scopes WHERE unit LIKE ?1 ->> '$'";
const UNITS =
  "SELECT json_quote(unit), 'more' FROM scopes WHERE unit LIKE ?1 ->> '$' ORDER BY unit";
const all = JSON.stringify("%");
const add = (...units) => ({ sql: ADD, parameter: JSON.stringify(units) });

for (const [name, open] of Object.entries({ local, deployed: deployedLedger })) {
  test(`${name}: statements return their rows' texts, and are one transaction`, async (t) => {
    const {
      ledger: { run },
    } = portOf((await open(t)).kv);
    const counts = [
      { sql: COUNT, parameter: all },
      { sql: COUNT, parameter: '"b%"' },
    ];
    assert.deepEqual(await run([add("a", "böse \"'\n", "b")]), [[]]);
    assert.deepEqual(await run(counts), [["[3]"], ["[2]"]]);
    assert.deepEqual(await run([{ sql: UNITS, parameter: all }]), [
      ['"a"', '"b"', String.raw`"böse \"'\n"`],
    ]);
    await assert.rejects(run([add("c"), add("d", "a")]), {
      constraint: true,
      message: "UNIQUE constraint failed: scopes.mode, scopes.unit",
    });
    assert.deepEqual(await run(counts), [["[3]"], ["[2]"]]);
  });

  test(`${name}: the tables of a later version are refused, and left as they are`, async (t) => {
    const { kv } = await open(t);
    await migrate(kv.ledger, tools.root);
    await kv.ledger.script("INSERT INTO d1_migrations (name) VALUES ('9999_later.sql');");
    await assert.rejects(
      migrate(kv.ledger, tools.root),
      /a later version has updated the ledger's tables by `9999_later\.sql`: /,
    );
    const [count] = await kv.ledger.batch([{ sql: COUNT, parameter: all }]);
    assert.deepEqual(count, ["[0]"]);
  });

  test(`${name}: an error names the problem: an invalid statement, and a text that D1 refuses`, async (t) => {
    const {
      kv: {
        ledger: { run },
      },
    } = await open(t);
    await assert.rejects(run([{ sql: "SELEC ?1", parameter: all }]), (error) => {
      assert.match(error.message, /near "SELEC": syntax error/);
      assert.equal(error.constraint, undefined);
      return true;
    });
    await assert.rejects(
      run([{ sql: "SELECT ?1 FROM none", parameter: all }]),
      /^Error: the ledger lacks tables or columns that this version needs: run `npm run deploy -- --dashboard` .*no such table: none/,
    );
    const most = JSON.stringify("x".repeat(1_999_998));
    assert.deepEqual(await run([{ sql: "SELECT length(?1)", parameter: most }]), [["2000000"]]);
    await assert.rejects(
      run([{ sql: "SELECT length(?1)", parameter: `${most} ` }]),
      /^Error: a parameter of the ledger is larger than 2 MB$/,
    );
  });
}

test("the size of an answer is limited", async () => {
  const rows = Array.from({ length: 51 }, () => "x".repeat(1_000_000));
  const ledger = new Ledger({ batch: async () => [rows], script: async () => {} });
  await assert.rejects(ledger.run([]), /^Error: an answer of the ledger is larger than 50 MB$/);
});

// ---- Whether a batch is one transaction ------------------------------------------------------------

const QUERY = /^POST .*\/query$/;
const OPERATIONS = "SELECT count(*) AS count FROM operations";

test("deployed: before the first change, the database is asked once whether a batch is one transaction", async (t) => {
  const { kv, account } = await deployedLedger(t);
  const [{ sqlite }] = account.databases;
  const asks = async (...statements) => {
    account.asked.length = 0;
    await kv.ledger.run(statements);
    return account.asked.filter((asked) => QUERY.test(asked)).length;
  };
  const count = { sql: COUNT, parameter: all };
  assert.equal(await asks(count), 1);
  assert.equal(await asks(count, add("a")), 3);
  assert.equal(await asks(add("b")), 1);
  assert.deepEqual({ ...sqlite.prepare(OPERATIONS).get() }, { count: 0 });
});

test("deployed: if a batch is not one transaction, changes are refused and queries are not", async (t) => {
  const { kv, account } = await deployedLedger(t);
  const [{ sqlite }] = account.databases;
  account.isAtomic = false;
  for (const units of [["a"], ["b"]])
    await assert.rejects(
      kv.ledger.run([add(...units)]),
      /^Error: nothing was changed in the ledger: .*not run a batch of statements as one transaction in this account.* Make the change in the dashboard/,
    );
  assert.deepEqual(await kv.ledger.run([{ sql: COUNT, parameter: all }]), [["[0]"]]);
  assert.deepEqual({ ...sqlite.prepare(OPERATIONS).get() }, { count: 0 });
});

test("deployed: a lost answer does not decide whether a batch is one transaction, and a failed check is repeated", async (t) => {
  for (const isAtomic of [true, false])
    for (const lost of [1, 2]) {
      const { kv, account } = await deployedLedger(t);
      account.isAtomic = isAtomic;
      account.lost = () => account.asked.length === lost;
      const run = kv.ledger.run([add("a")]);
      await (isAtomic ? run : assert.rejects(run, /^Error: nothing was changed in the ledger/));
    }
  const { kv, account } = await deployedLedger(t);
  account.fault = () => ({ status: 403, message: "no" });
  await assert.rejects(kv.ledger.run([add("a")]), /status 403/);
  account.fault = () => undefined;
  await kv.ledger.run([add("a")]);
});

test("deployed: a database that accepts what it must refuse is not changed", async (t) => {
  const { kv, account } = await deployedLedger(t);
  const [{ sqlite }] = account.databases;
  sqlite.exec("DROP TRIGGER preconditions_hold");
  sqlite.exec("CREATE TRIGGER accepting INSTEAD OF INSERT ON preconditions BEGIN SELECT 1; END");
  await assert.rejects(kv.ledger.run([add("a")]), /accepted a statement that it must refuse/);
  assert.deepEqual({ ...sqlite.prepare(OPERATIONS).get() }, { count: 0 });
  assert.deepEqual(await kv.ledger.run([{ sql: COUNT, parameter: all }]), [["[0]"]]);
});

test("a statement may change something unless it is certain that it only reads", () => {
  const reads = [
    "SELECT 1",
    "\n select replace(a, 'b', 'c') FROM updates",
    "WITH a AS (SELECT 1) SELECT replace(x, 'y', 'z') FROM update_records, a",
  ];
  const writes = [
    "INSERT INTO a SELECT 1",
    "replace into a values (1)",
    "UPDATE a SET b = 1",
    "DELETE FROM a",
    "WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a",
    "with a as (select 1)\nreplace  into b select * from a",
    "WITH a AS (SELECT 1) UPDATE b SET c = 1",
    "WITH a AS (SELECT 1) DELETE FROM b",
    "-- a comment\nSELECT 1",
    "CREATE TABLE a (b)",
  ];
  assert.deepEqual([...reads, ...writes].map(changes), [
    ...reads.map(() => false),
    ...writes.map(() => true),
  ]);
});

// ---- Temporary errors -----------------------------------------------------------------------------

const LOCKED = "D1_ERROR: database is locked: SQLITE_BUSY";
const TOKEN = "D1_ERROR: Failed to get session commit token: broken";

test("statements that another local program blocks are retried a limited number of times", async () => {
  const faults = [LOCKED, TOKEN, LOCKED];
  let asked = 0;
  const failing = (count) => async () => {
    asked += 1;
    if (asked <= count) throw new Error(faults[asked % 3]);
    return [["[1]"]];
  };
  const ledger = (count) => new Ledger({ batch: failing(count), script: async () => {} });
  assert.deepEqual(await ledger(3).run([add("a")]), [["[1]"]]);
  assert.equal(asked, 4);
  asked = 0;
  await assert.rejects(ledger(99).run([add("a")]), /SQLITE_BUSY|commit token/);
  assert.equal(asked, 6);
});

const again = { "retry-after": "0" };
/**
 * The cases by name. Each has the faults of a database query, the number of requests that the query makes, and
 * the query's error message (null if the query succeeds).
 */
const FAULTS = {
  "a server's error": [
    [
      { status: 500, headers: again },
      { status: 429, headers: again },
    ],
    3,
    null,
  ],
  "what D1 says of itself": [
    [{ status: 400, message: "D1 DB reset because its code was updated." }],
    2,
    null,
  ],
  "no permission": [
    [{ status: 403, message: "no" }],
    1,
    /status 403; no .*`D1: Edit` for the ledger/,
  ],
};

for (const [name, [faults, asks, problem]] of Object.entries(FAULTS))
  test(`deployed: ${name}`, async (t) => {
    const { kv, account } = await deployedLedger(t);
    account.fault = () => faults[account.asked.length - 1];
    const counted = kv.ledger.run([{ sql: COUNT, parameter: all }]);
    if (problem === null) assert.deepEqual(await counted, [["[0]"]]);
    else await assert.rejects(counted, problem);
    assert.equal(account.asked.length, asks);
  });

test("deployed: without a dashboard, or one without a database, there is no ledger", async (t) => {
  const { account, open } = await deployedLedger(t);
  account.bindings.set("impact-pledge-dashboard", []);
  assert.deepEqual([(await open()).ledger, portOf(await open()).ledger], [null, undefined]);
  account.bindings.delete("impact-pledge-dashboard");
  assert.equal((await open()).ledger, null);
});

// ---- Migrations ----------------------------------------------------------------------------------

test("local: wrangler finds the migrations that a command applied, and several commands at once migrate a new folder", async (t) => {
  const persistTo = scratch(t);
  const kvs = await Promise.all(Array.from({ length: 4 }, () => openKv(tools, { persistTo })));
  t.after(() => Promise.all(kvs.map((kv) => kv.close())));
  await Promise.all(kvs.map(({ ledger }, at) => ledger.run([add(`unit_${at}`)])));
  assert.deepEqual(await kvs[0].ledger.run([{ sql: COUNT, parameter: all }]), [["[4]"]]);
  assert.deepEqual(await migrate(kvs[0].ledger, tools.root), []);
  const config = join(tools.root, "www", "wrangler.dashboard.dev.toml");
  const options = ["LEDGER_DB", "--local", "--persist-to", persistTo, "--config", config];
  const args = [tools.wrangler, "d1", "migrations", "list", ...options];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    env: tools.env,
    encoding: "utf8",
  });
  assert.match(stdout, /No migrations to apply/, stderr);
});

test("deployed: a ledger whose database was deleted says what to run", async (t) => {
  const { kv, account } = await deployedLedger(t);
  account.databases.length = 0;
  await assert.rejects(
    kv.ledger.run([{ sql: COUNT, parameter: all }]),
    /^Error: the account has no database for the ledger \(.*could not be found\): run `npm run deploy -- --dashboard`, which creates it/,
  );
});

test("deployed: a migration whose answer was lost is not applied twice", async (t) => {
  const { kv, account } = await deployedLedger(t, { isMigrated: false });
  const [{ sqlite }] = account.databases;
  let isLost = false;
  account.lost = () => {
    const before = isLost;
    isLost =
      sqlite.prepare("SELECT name FROM sqlite_schema WHERE name = 'scopes'").all().length > 0;
    return isLost && !before;
  };
  assert.deepEqual(await migrate(kv.ledger, tools.root), MIGRATIONS);
  assert.equal(isLost, true);
  assert.equal(sqlite.prepare("SELECT name FROM d1_migrations").all().length, MIGRATIONS.length);
});
