/** `npm run transactions` and `npm run catalogue -- check`, on local KV and on a deployed namespace. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { placeInWords } from "../../scripts/lib/output.mjs";
import { PLACES, contents, deployedKv } from "./places.mjs";
import { assertAnswer, requestOf } from "./rows.mjs";
import { scratch, script } from "./script.mjs";
import { send, startWorker } from "./worker.mjs";

const ID = "ptran_f74hxzdgxljvqeegtsq7kummqadht4ietopodwyawa"; // of both formats
const before = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const fixture = (format) =>
  readFileSync(
    join(import.meta.dirname, "..", "fixtures", "records", `format-${format}.json`),
    "utf8",
  );

/** The records of a format, and the requests that a service answers by them, as of an hour ago. */
function recorded(format, time = before(60)) {
  const { records, rows } = JSON.parse(
    fixture(format).replaceAll(/2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, time),
  );
  return {
    rows,
    entries: Object.entries(records).map(([key, { value, metadata }]) => ({
      key,
      value,
      ...(metadata === null ? {} : { metadata }),
    })),
  };
}

const run =
  (at, name = "transactions") =>
  async (...args) => {
    const { input, ...result } = await script(name, [...args, ...at.args], at);
    return result;
  };

/** What a command prints for programs. */
const asked =
  (at, name) =>
  async (...args) => {
    const { code, out, problem } = await run(at, name)(...args, "--json");
    assert.equal(code, 0, problem);
    const { place, ...answer } = JSON.parse(out);
    assert.deepEqual(place, at.place);
    return answer;
  };

for (const [name, open] of Object.entries(PLACES)) {
  test(`on ${name}, a transaction is found, shown and, when it is old, completed`, async (t) => {
    const at = await open(t);
    const { entries } = recorded(0);
    await at.kv.write(entries);
    const find = ["find", "--unit", "unit_dev", "--reference", "order-1001"];
    const row = ({ id, unit, unpriced, amount }) => ({ id, unit, unpriced, amount });
    const old = await asked(at)(...find);
    assert.deepEqual(
      [old.transactions.map(row), old.read, old.damaged],
      [[{ id: ID, unit: "unit_dev", unpriced: 0, amount: "1.50" }], 1, 0],
    );

    const backfill = ["backfill"];
    assert.deepEqual(await asked(at)(...backfill), {
      keys: 3,
      transactions: 2,
      young: 0,
      damaged: 0,
    });
    const all = await contents(at.kv);
    for (const { key, value } of entries.filter(({ key }) => !key.startsWith("key:")))
      assert.equal(all[key].value, value);
    const { secret, ...record } = JSON.parse(all[entries[0].key].value);
    assert.deepEqual(
      [record, secret],
      [JSON.parse(entries[0].value), JSON.parse(all.secret.value).secret],
    );
    const { summary } = all[`transaction:${ID}`].metadata;
    assert.ok(`idempotency:${summary.replay}` in all && summary.amount === "1.50");
    assert.deepEqual(await asked(at)(...backfill), {
      keys: 0,
      transactions: 0,
      young: 0,
      damaged: 0,
    });
    assert.deepEqual(await contents(at.kv), all);

    const words = await run(at)(
      "find",
      "--unit",
      "unit_dev",
      "--mode",
      "test",
      "--email",
      "Ada@Example.org",
    );
    assert.equal(words.code, 0, words.problem);
    assert.equal(words.out.split("\n")[0], placeInWords(at.place));
    assert.match(words.out, new RegExp(`^${ID}  \\S+Z  test  1\\.50 USD$`, "m"));
    assert.ok(!words.out.includes("backfill"));
    const none = await run(at)(
      "find",
      "--unit",
      "unit_dev_two",
      "--mode",
      "test",
      "--email",
      "ada@example.org",
    );
    assert.match(none.out, /^no such transaction$/m);

    const masked = await run(at)("show", ID);
    assert.equal(masked.code, 0, masked.problem);
    assert.match(masked.out, /^Recipient +a…@e…, A…$/m);
    assert.match(masked.out, /^Reference +order-1001$/m);
    assert.match(masked.out, /^tree +3 +T…, t…, t…$/m);
    assert.ok(!/edit_key|ada@|Ada/.test(masked.out), masked.out);
    const whole = await run(at)("show", ID, "--reveal");
    assert.match(whole.out, /^Recipient +ada@example\.org, Ada$/m);
    assert.ok(!whole.out.includes("edit_key"));
    const opened = await asked(at)("show", ID, "--timeline");
    assert.match(opened.transaction.timelineUrl, /\?edit_key=/);
    assert.equal(opened.transaction.pledges[0].recipient.email, "a…@e…");
    for (const { out, problem } of [words, none, masked, whole])
      assert.ok(!`${out}${problem}`.includes(secret));
  });

  test(`on ${name}, what is erased stays erased when the create is repeated`, async (t) => {
    const at = await open(t);
    const { entries, rows } = recorded(1);
    await at.kv.write(entries);
    const untouched = await contents(at.kv);
    const asking = await run(at)("erase", ID);
    assert.deepEqual([asking.code, asking.out], [1, ""]);
    assert.equal(
      asking.problem,
      `stopped: add \`--yes\` to erase without being asked: nothing was erased (${placeInWords(at.place)})\n`,
    );
    assert.deepEqual(await contents(at.kv), untouched);

    assert.deepEqual(await asked(at)("erase", ID, "--yes"), { id: ID, erased: true, before: null });
    const erased = await contents(at.kv);
    const { value, metadata } = erased[`transaction:${ID}`];
    assert.ok(
      !/ada@|Ada|order-1001|placed an order|Trees/.test(value + JSON.stringify(metadata)),
      value,
    );
    assert.equal(metadata.summary.lookup, undefined);
    const again = await run(at)("erase", ID, "--yes");
    assert.match(
      again.out,
      new RegExp(`^${ID} is erased, as it was on ${metadata.summary.erased}: `, "m"),
    );
    assert.deepEqual(await contents(at.kv), erased);
    const { transactions } = await asked(at)(
      "find",
      "--unit",
      "unit_dev",
      "--mode",
      "test",
      "--email",
      "ada@example.org",
    );
    assert.deepEqual(transactions, []);
    assert.match(
      (await run(at)("show", ID, "--reveal")).out,
      /^Record +erased .+, made with an Idempotency-Key$/m,
    );

    // The service, over the same records.
    const worker = await startWorker({ records: erased });
    t.after(() => worker.close());
    const repeat = rows.find(({ name }) => name === "a repeat is answered as the first create was");
    assertAnswer(repeat, await send(worker.origin, requestOf(repeat, {})), {});
    const kept = await worker.kv.getWithMetadata(`transaction:${ID}`);
    assert.deepEqual({ value: kept.value, metadata: kept.metadata }, { value, metadata });
    const got = await send(worker.origin, requestOf(rows[0], {}));
    assert.deepEqual([got.status, got.text], [200, value]);
    const { pathname, search } = new URL(JSON.parse(value).timelineUrl);
    const page = await send(worker.origin, { method: "GET", path: pathname + search });
    assert.equal(page.status, 200);
    assert.ok(!/ada@|Ada|order-1001|placed an order|Trees/.test(page.text));
  });

  test(`on ${name}, a month is summed, and no cell is a formula`, async (t) => {
    const at = await open(t);
    const listed = (id, unit, createdAt, amount, unpriced) => ({
      key: `transaction:ptran_${id}`,
      value: "",
      metadata: {
        version: 1,
        mode: "live",
        unit,
        editKey: "0",
        summary: { createdAt, amount, currencyCode: "EUR", unpriced },
      },
    });
    await at.kv.write([
      listed(1, '=cmd|"/c calc"!A1', "2026-11-01T00:00:00.000Z", "0.10"),
      listed(2, "u", "2026-11-30T23:59:59.999Z", "0.20", 2),
      listed(3, "u", "2026-11-30T23:59:59.999Z", `${"9".repeat(30)}.99`),
      listed(4, "u", "2026-12-01T00:00:00.000Z", "7.00"),
      ...recorded(0, "2026-11-02T00:00:00.000Z").entries,
    ]);
    const file = join(scratch(t), "november.csv");
    const answer = await asked(at)("export", "--month", "2026-11", "--mode", "live", "--csv", file);
    const sum = (unit, transactions, amount, currencyCode = "EUR", unpriced = 0) => ({
      unit,
      mode: "live",
      currencyCode,
      transactions,
      unpriced,
      amount,
    });
    const sums = [
      sum('=cmd|"/c calc"!A1', 1, "0.10"),
      sum("u", 2, `1${"0".repeat(30)}.19`, "EUR", 2),
      sum("unit_dev_two", 1, "1.50", "USD"),
    ];
    assert.deepEqual(answer, {
      month: "2026-11",
      sums,
      transactions: 4,
      read: 1,
      damaged: 0,
      file,
    });
    const csv = readFileSync(file, "utf8");
    const lines = csv.split("\r\n");
    assert.equal(lines[0], "id,createdAt,mode,unit,amount,currencyCode,unpriced,erased");
    assert.deepEqual(lines.slice(1, -1).sort(), [
      'ptran_1,2026-11-01T00:00:00.000Z,live,"\'=cmd|""/c calc""!A1",0.10,EUR,0,',
      "ptran_2,2026-11-30T23:59:59.999Z,live,u,0.20,EUR,2,",
      `ptran_3,2026-11-30T23:59:59.999Z,live,u,${"9".repeat(30)}.99,EUR,0,`,
      "ptran_el4vh3fn6yziyea6iqpufimxjihfc5hf6jcz2ubu3y,2026-11-02T00:00:00.000Z,live,unit_dev_two,1.50,USD,0,",
    ]);
    assert.ok(!existsSync(`${file}.part`));
    const piped = await run(at)("export", "--month", "2026-11", "--mode", "live", "--csv");
    assert.deepEqual(piped.out.split("\r\n").sort(), lines.sort());
    assert.ok(piped.problem.startsWith(placeInWords(at.place)));
    assert.match(piped.problem, /^u +live +2 +10{30}\.19 +EUR +2$/m);
    assert.match(
      piped.problem,
      /^1 records have no summary in their metadata and were read: `npm run transactions -- backfill` completes them\.$/m,
    );
    const none = await run(at)("export", "--month", "2025-01");
    assert.match(none.out, /^no transactions in 2025-01$/m);
  });

  test(`on ${name}, a misspelt offering is found, and the exit code says so`, async (t) => {
    const at = await open(t);
    await at.kv.write([
      { key: "catalogue:live", value: '{"currencyCode":"USD","unitPrices":{"tree":"0.50"}}' },
    ]);
    const { entries } = recorded(1);
    await at.kv.write(
      entries.filter(({ key }) => key.startsWith("transaction:") || key.startsWith("key:")),
    );
    const check = run(at, "catalogue");
    const clean = await check("check");
    assert.deepEqual(
      [clean.code, clean.out.split("\n").at(-2)],
      [0, "No catalogue is set for test keys: their transactions were not looked at."],
    );
    const transaction = entries.find(
      ({ key, metadata }) => key.startsWith("transaction:") && metadata.mode === "live",
    );
    const misspelt = {
      ...transaction,
      value: transaction.value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
    };
    misspelt.metadata = {
      ...transaction.metadata,
      summary: { ...transaction.metadata.summary, unpriced: 1 },
    };
    await at.kv.write(
      ["a", "e", "i"].map((letter) => ({
        ...misspelt,
        key: `transaction:ptran_${letter.repeat(42)}`,
      })),
    );
    const found = await check("check", "--mode", "live", "--json");
    assert.equal(found.code, 1, found.problem);
    const { createdAt } = transaction.metadata.summary;
    assert.deepEqual(JSON.parse(found.out), {
      place: at.place,
      offerings: [
        { mode: "live", offeringId: "tre", pledges: 3, first: createdAt, last: createdAt },
      ],
      priced: 0,
      more: 0,
      damaged: 0,
      withoutCatalogue: [],
    });
    const words = await check("check");
    assert.deepEqual([words.code, words.problem], [1, ""]);
    assert.match(words.out, new RegExp(`^tre +live +3 +${createdAt} +${createdAt}$`, "m"));
    await at.kv.write([
      {
        key: "catalogue:live",
        value: '{"currencyCode":"USD","unitPrices":{"tree":"0.50","tre":"0.50"}}',
      },
    ]);
    const since = await check("check", "--mode", "live");
    assert.match(since.out, /^3 transactions had offerings without a price that have one now\.$/m);
    assert.equal(since.code, 0);
  });

  test(`on ${name}, a backup is restored by the commands`, async (t) => {
    const at = await open(t);
    await at.kv.write(recorded(1).entries);
    const before = await contents(at.kv);
    const file = join(scratch(t), "backup.jsonl");
    const made = await run(at)("backup", file);
    assert.equal(made.code, 0, made.problem);
    assert.equal(made.out.split("\n")[0], placeInWords(at.place));
    const again = await run(at)("backup", file, "--json");
    assert.deepEqual(
      [again.code, JSON.parse(again.out)],
      [
        1,
        {
          place: at.place,
          error: {
            code: "failed",
            message: `${file} exists, and no backup is overwritten: choose another name`,
          },
        },
      ],
    );
    await at.kv.remove(Object.keys(before));
    const { from, ...done } = await asked(at)("restore", file);
    assert.deepEqual(
      [done.written, done.expired, done.resumed, from.place],
      [Object.keys(before).length, 0, false, at.place],
    );
    assert.deepEqual(await contents(at.kv), before);
    await at.kv.write([{ key: "catalogue:test", value: "{}" }]);
    await at.kv.remove([`transaction:${ID}`]);
    const refused = await run(at)("restore", file);
    assert.equal(
      refused.problem,
      `stopped: the place has another record \`catalogue:test\`: nothing was overwritten; \`--overwrite\` replaces what differs (${placeInWords(at.place)})\n`,
    );
    assert.match(
      (await run(at)("restore", file, "--overwrite")).out,
      /records of .+ are written and read back, 0 have expired since\.$/m,
    );
    assert.deepEqual(await contents(at.kv), before);
  });
}

test("all keys of a namespace have one secret, which no output shows", async (t) => {
  const at = await deployedKv(t);
  const make = () => run(at, "keys")("create", "--mode", "live", "--unit", "u", "--json");
  const outputs = [await make(), await make()];
  const [first, second] = outputs.map(({ out }) => JSON.parse(out));
  await at.kv.remove(["secret"]); // as where it is not seen yet
  outputs.push(
    await make(),
    await run(at, "keys")("rotate", second.id, "--keep", "0", "--json"),
    await run(at, "keys")("list"),
  );
  const { secret } = JSON.parse(await at.kv.get("secret"));
  assert.match(secret, /^[0-9a-f]{64}$/);
  assert.equal(JSON.parse(await at.kv.get(first.name)).secret, secret);
  const records = await Array.fromAsync(at.kv.read(at.kv.names("key:")));
  assert.deepEqual(
    records.map(({ value }) => JSON.parse(value).secret),
    [secret, secret, secret],
  );
  for (const { out, problem } of outputs) assert.ok(!`${out}${problem}`.includes(secret));
});

test("a transaction of the first format is erased together with its replay record", async (t) => {
  const at = await deployedKv(t);
  const { entries } = recorded(0);
  await at.kv.write(entries);
  assert.equal((await asked(at)("erase", ID, "--yes")).erased, true);
  const all = await contents(at.kv);
  const [replay] = Object.keys(all).filter((name) => name.startsWith("idempotency:"));
  assert.equal(`idempotency:${all[`transaction:${ID}`].metadata.summary.replay}`, replay);
  assert.equal(JSON.parse(all[replay].value).fingerprint, "");
});

test("what cannot be erased yet, or at all, is left as it is, and no message quotes it", async (t) => {
  const at = await deployedKv(t);
  const erase = (id) => run(at)("erase", id, "--yes");
  await at.kv.write(recorded(1, before(4)).entries);
  const young = await contents(at.kv);
  const results = [await erase(ID)];
  assert.match(
    results[0].problem,
    /^stopped: it was created less than 5 minutes ago, and a repeat of the create could bring it back: nothing was erased, try again in \d+ s/,
  );
  assert.deepEqual(await contents(at.kv), young);

  await at.kv.write(recorded(1).entries);
  const [replay] = await Array.fromAsync(at.kv.names("idempotency:"));
  const { terms } = JSON.parse(await at.kv.get(replay));
  await at.kv.remove([replay]);
  results.push(await erase(ID));
  assert.match(
    results[1].problem,
    /its replay record was written, which is there now: nothing is erased yet, run the same command in 5 minutes/,
  );
  const added = JSON.parse(await at.kv.get(replay));
  assert.deepEqual([added.id, added.terms], [ID, terms]);
  results.push(await erase(ID));
  assert.match(results[2].problem, /it got its missing replay record less than 5 minutes ago/);
  assert.match(await at.kv.get(`transaction:${ID}`), /ada@example\.org/);
  await at.kv.write([{ key: replay, value: JSON.stringify({ ...added, addedAt: before(5) }) }]);
  results.push(await erase(ID));
  assert.equal(results[3].code, 0, results[3].problem);

  const damaged = "ptran_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  await at.kv.write([
    {
      key: `transaction:${damaged}`,
      value: '{"reference":["ada@example.org"]}',
      metadata: { mode: "live", unit: "u", editKey: "0" },
    },
  ]);
  for (const command of ["erase", "show"])
    results.push(
      await run(at)(command, damaged, ...(command === "erase" ? ["--yes"] : ["--reveal"])),
    );
  assert.match(
    results.at(-1).problem,
    new RegExp(`^stopped: ${damaged}: the stored transaction is damaged: `),
  );
  const found = await asked(at)("find", "--unit", "u", "--email", "ada@example.org");
  assert.deepEqual(found, { transactions: [], read: 1, damaged: 1 });
  results.push(await erase(`ptran_${"e".repeat(42)}`), await erase("ada@example.org"));
  assert.match(results.at(-2).problem, /^stopped: there is no transaction ptran_e{42} here/);
  assert.match(results.at(-1).problem, /^stopped: this is not the ID of a transaction/);
  at.account.fault = (asked) => (/^PUT .*bulk$/.test(asked) ? { status: 403 } : undefined);
  results.push(await erase(ID));
  assert.match(results.at(-1).problem, /can't write records: status 403/);
  for (const { out, problem } of results) assert.ok(!/ada@|Ada/.test(out + problem), out + problem);
});

test("young transactions and damaged ones are left to a later backfill", async (t) => {
  const at = await deployedKv(t);
  await at.kv.write(
    recorded(0, before(9)).entries.filter(({ key }) => key.startsWith("transaction:")),
  );
  await at.kv.write([
    { key: "transaction:damaged", value: "{}", metadata: { mode: "live", unit: "u" } },
  ]);
  const all = await contents(at.kv);
  assert.deepEqual(await asked(at)("backfill"), { keys: 0, transactions: 0, young: 2, damaged: 1 });
  const { secret, ...rest } = await contents(at.kv);
  assert.ok(secret);
  assert.deepEqual(rest, all);
});

test("a wrong command line does nothing and says what is wrong", async (t) => {
  const persistTo = scratch(t);
  for (const [name, args, problem, env = {}] of [
    ["transactions", ["find", "--unit", "u"], "say what to look for: `--reference` or `--email`"],
    ["transactions", ["find", "--reference", "r"], "required option '--unit <unit>' not specified"],
    [
      "transactions",
      ["find", "--unit", "u", "--reference", "r", "--email", "e"],
      "option '--reference <text>' cannot be used with option '--email <address>'",
    ],
    [
      "transactions",
      ["export", "--month", "2026-13"],
      "option '--month <month>' argument '2026-13' is invalid. It must be a year and a month, such as 2026-11.",
    ],
    [
      "transactions",
      ["export", "--month", "2026-11", "--csv", "--json"],
      "`--csv` with `--json` needs a file",
    ],
    ["transactions", ["erase"], "missing required argument 'id'"],
    [
      "transactions",
      ["erase", "x", "--env", "production"],
      "`--env` is of a deployed service: add `--remote`",
    ],
    ["transactions", ["restor", "x"], "unknown command 'restor'\n(Did you mean restore?)"],
    [
      "catalogue",
      ["check", "--mode", "prod"],
      "option '--mode <mode>' argument 'prod' is invalid. Allowed choices are test, live, both.",
    ],
    ...[
      ["find", "unit"],
      ["erase", "yes"],
      ["restore", "overwrite"],
      ["show", "reveal"],
      ["export", "csv"],
      ["backup", "env"],
    ].map(([command, option]) => [
      "transactions",
      [command, "x"],
      `npm took \`--${option}\` for itself, and nothing was done: write \`npm run transactions -- …\`, and in PowerShell, which drops \`--\`, \`npm.cmd run transactions -- …\``,
      { npm_lifecycle_event: "transactions", [`npm_config_${option}`]: "true" },
    ]),
  ]) {
    const { code, problem: printed } = await script(
      name,
      [...args, ...(env.npm_lifecycle_event ? [] : ["--persist-to", persistTo])],
      { env },
    );
    assert.deepEqual([code, printed], [2, `${problem}\nSee \`npm run ${name} -- --help\`.\n`]);
  }
});
