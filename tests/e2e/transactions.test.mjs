/** `npm run transactions`, on local KV and on a deployed namespace. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { placeInWords } from "../../scripts/lib/output.mjs";
import { PLACES, contents, deployedKv } from "./places.mjs";
import { assertAnswer, requestOf } from "./rows.mjs";
import { scratch, script } from "./script.mjs";
import { send, startWorker } from "./worker.mjs";

const ID = "ptran_f74hxzdgxljvqeegtsq7kummqadht4ietopodwyawa"; // of the fixture
const SECRET = "0f".repeat(32);
const before = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const FIXTURE = readFileSync(
  join(import.meta.dirname, "..", "fixtures", "records", "format-1.json"),
  "utf8",
);

/** Records of all kinds, and the requests that a service answers by them, as of an hour ago. */
function recorded(time = before(60)) {
  const text = FIXTURE.replaceAll(/2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, time);
  const { records, rows } = JSON.parse(text);
  const secret = { key: "secret", value: JSON.stringify({ secret: SECRET, version: 1 }) };
  const entries = Object.entries(records).map(([key, { value, metadata }]) => ({
    key,
    value,
    ...(metadata === null ? {} : { metadata }),
  }));
  return { rows, entries: [...entries.filter(({ key }) => key !== "secret"), secret] };
}

/**
 * The ID of a transaction of this unit and mode: 40 bits of their hash, and characters of which
 * nothing is known.
 */
function idIn(mode, unit, character) {
  const hash = createHash("sha256");
  for (const text of [mode, unit]) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    hash.update(length).update(text);
  }
  const digits = hash.digest().readUIntBE(0, 5).toString(32).padStart(8, "0");
  const letters = [...digits].map(
    (digit) => "abcdefghijklmnopqrstuvwxyz234567"[Number.parseInt(digit, 32)],
  );
  return `ptran_${letters.join("")}${character.repeat(34)}`;
}

const run =
  (at, name = "transactions") =>
  async (...args) => {
    const { input, ...result } = await script(name, [...args, ...at.args], at);
    return result;
  };

/** The output of a command for programs. */
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
  test(`on ${name}, a transaction is found and shown`, async (t) => {
    const at = await open(t);
    await at.kv.write(recorded().entries);
    const find = ["find", "--unit", "unit_dev", "--reference", "order-1001"];
    const row = ({ id, unit, unpriced, amount }) => ({ id, unit, unpriced, amount });
    const { transactions, ...rest } = await asked(at)(...find);
    assert.deepEqual(
      [transactions.map(row), rest],
      [[{ id: ID, unit: "unit_dev", unpriced: 0, amount: "1.50" }], { damaged: 0 }],
    );
    const byEmail = (unit, address) =>
      run(at)("find", "--unit", unit, "--mode", "test", "--email", address);
    const words = await byEmail("unit_dev", "Ada@Example.org");
    assert.equal(words.code, 0, words.problem);
    assert.equal(words.out.split("\n")[0], placeInWords(at.place));
    assert.match(words.out, new RegExp(`^${ID}  \\S+Z  test  1\\.50 USD$`, "m"));
    const none = await byEmail("unit_dev_two", "ada@example.org");
    assert.match(none.out, /^no such transaction$/m);

    const masked = await run(at)("show", ID);
    assert.equal(masked.code, 0, masked.problem);
    assert.match(masked.out, /^Recipient +a…@e…, A…$/m);
    assert.match(masked.out, /^Reference +order-1001$/m);
    assert.match(masked.out, /^Record +made with an Idempotency-Key$/m);
    assert.match(masked.out, /^tree +3 +T…, t…, t…$/m);
    assert.ok(!/edit_key|ada@|Ada/.test(masked.out), masked.out);
    const whole = await run(at)("show", ID, "--reveal");
    assert.match(whole.out, /^Recipient +ada@example\.org, Ada$/m);
    assert.ok(!whole.out.includes("edit_key"));
    const opened = await asked(at)("show", ID, "--timeline");
    assert.match(opened.transaction.timelineUrl, /\?edit_key=/);
    assert.equal(opened.transaction.pledges[0].recipient.email, "a…@e…");
    for (const { out, problem } of [words, none, masked, whole])
      assert.ok(!`${out}${problem}`.includes(SECRET));
  });

  test(`on ${name}, what is erased stays erased when the create is repeated`, async (t) => {
    const at = await open(t);
    const { entries, rows } = recorded();
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
    const listed = (character, unit, createdAt, amount, unpriced) => ({
      key: `transaction:${idIn("live", unit, character)}`,
      value: "",
      metadata: {
        version: 1,
        mode: "live",
        unit,
        editKey: "0",
        summary: { createdAt, amount, currencyCode: "EUR", unpriced },
      },
    });
    const formula = '=cmd|"/c calc"!A1';
    await at.kv.write([
      listed("a", formula, "2026-11-01T00:00:00.000Z", "0.10"),
      listed("e", "u", "2026-11-30T23:59:59.999Z", "0.20", 2),
      listed("i", "u", "2026-11-30T23:59:59.999Z", `${"9".repeat(30)}.99`),
      listed("m", "u", "2026-12-01T00:00:00.000Z", "7.00"),
      ...recorded("2026-11-02T00:00:00.000Z").entries,
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
      sum(formula, 1, "0.10"),
      sum("u", 2, `1${"0".repeat(30)}.19`, "EUR", 2),
      sum("unit_dev_two", 1, "1.50", "USD"),
    ];
    assert.deepEqual(answer, {
      month: "2026-11",
      sums,
      transactions: 4,
      damaged: 0,
      file,
    });
    const csv = readFileSync(file, "utf8");
    const lines = csv.split("\r\n");
    assert.equal(lines[0], "id,createdAt,mode,unit,amount,currencyCode,unpriced,erased");
    const ids = [idIn("live", formula, "a"), idIn("live", "u", "e"), idIn("live", "u", "i")];
    const [, fixture] = FIXTURE.match(/"transaction:(\w+)": \{\s*"value": "[^\n]*isLive\\":true/);
    assert.deepEqual(
      lines.slice(1, -1).sort(),
      [
        `${ids[0]},2026-11-01T00:00:00.000Z,live,"'=cmd|""/c calc""!A1",0.10,EUR,0,`,
        `${ids[1]},2026-11-30T23:59:59.999Z,live,u,0.20,EUR,2,`,
        `${ids[2]},2026-11-30T23:59:59.999Z,live,u,${"9".repeat(30)}.99,EUR,0,`,
        `${fixture},2026-11-02T00:00:00.000Z,live,unit_dev_two,1.50,USD,0,`,
      ].sort(),
    );
    assert.ok(!existsSync(`${file}.part`));
    const piped = await run(at)("export", "--month", "2026-11", "--mode", "live", "--csv");
    assert.deepEqual(piped.out.split("\r\n").sort(), lines.sort());
    assert.ok(piped.problem.startsWith(placeInWords(at.place)));
    assert.match(piped.problem, /^u +live +2 +10{30}\.19 +EUR +2$/m);
    const ofUnit = await asked(at)("export", "--month", "2026-11", "--unit", "u");
    assert.deepEqual([ofUnit.transactions, ofUnit.sums], [2, [sums[1]]]);
    const all = await asked(at)("usage", "--unit", "u");
    assert.deepEqual([all.month, all.transactions, all.sums[0].unpriced], [null, 3, 2]);
    const none = await run(at)("export", "--month", "2025-01");
    assert.match(none.out, /^no transactions in 2025-01$/m);
  });

  test(`on ${name}, transactions with an offering that had no price are listed, and the exit code says so`, async (t) => {
    const at = await open(t);
    const { entries } = recorded();
    await at.kv.write(entries);
    const clean = await run(at)("usage", "--unpriced");
    assert.deepEqual([clean.code, clean.problem], [0, ""]);
    assert.match(clean.out, /^every offering of these transactions had a price$/m);

    const { value, metadata } = entries.find(({ metadata }) => metadata?.mode === "live");
    const misspelt = {
      value: value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
      metadata: { ...metadata, summary: { ...metadata.summary, unpriced: 1 } },
    };
    const ids = ["a", "e", "i"].map((character) => idIn("live", "unit_dev_two", character));
    await at.kv.write(ids.map((id) => ({ ...misspelt, key: `transaction:${id}` })));
    const { createdAt, amount, currencyCode } = metadata.summary;
    const found = await run(at)("usage", "--unpriced", "--unit", "unit_dev_two", "--json");
    assert.equal(found.code, 1, found.problem);
    const { place, examples, ...usage } = JSON.parse(found.out);
    assert.deepEqual(place, at.place);
    const sum = { unit: "unit_dev_two", mode: "live", currencyCode, transactions: 3 };
    assert.deepEqual(usage, {
      month: null,
      sums: [{ ...sum, unpriced: 3, amount: "4.50" }],
      transactions: 3,
      damaged: 0,
    });
    const row = { mode: "live", unit: sum.unit, createdAt, amount, currencyCode, unpriced: 1 };
    assert.deepEqual(
      examples,
      ids.map((id) => ({ id, ...row, erased: null })),
    );
    const words = await run(at)("usage", "--unpriced", "--month", createdAt.slice(0, 7));
    assert.deepEqual([words.code, words.problem], [1, ""]);
    assert.match(words.out, /^unit_dev_two +live +3 +4\.50 +USD +3$/m);
    assert.match(words.out, new RegExp(`^${ids[0]} +${createdAt} +live +1\\.50 USD +1$`, "m"));
    assert.match((await run(at)("show", ids[0])).out, /^tre +3 /m);
    const none = await run(at)("usage", "--month", "2025-01");
    assert.deepEqual([none.code, none.out.split("\n").at(-2)], [0, "no transactions"]);
  });

  test(`on ${name}, a backup is restored by the commands`, async (t) => {
    const at = await open(t);
    await at.kv.write(recorded().entries);
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
      [done.written, done.same, done.expired, done.secretReplaced, from.place],
      [Object.keys(before).length, 0, 0, false, at.place],
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
      /^2 records of .+ are written and read back, \d+ were there already, 0 have expired since\.$/m,
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

test("replay records without their secret, or with another, are not restored", async (t) => {
  const at = await deployedKv(t);
  const [folder, { entries }] = [scratch(t), recorded()];
  const file = (name) => join(folder, `${name}.jsonl`);
  const backup = async (name, some) => {
    await at.kv.remove(await Array.fromAsync(at.kv.names()));
    await at.kv.write(some);
    assert.equal((await run(at)("backup", file(name))).code, 0);
    await at.kv.remove(await Array.fromAsync(at.kv.names()));
  };
  const refused = async (name, message) => {
    const kept = await contents(at.kv);
    const { code, problem } = await run(at)("restore", file(name));
    assert.deepEqual([code, problem], [1, `stopped: ${message} (${placeInWords(at.place)})\n`]);
    assert.deepEqual(await contents(at.kv), kept);
  };
  await backup("whole", entries);
  await backup(
    "unkeyed",
    entries.filter(({ key }) => key !== "secret"),
  );
  await refused(
    "unkeyed",
    `${file("unkeyed")} has replay records, and not the secret that they were made with: their creates would be recorded twice when they are repeated, and nothing was written`,
  );
  await at.kv.write([{ key: "secret", value: JSON.stringify({ secret: "07".repeat(32) }) }]);
  await refused(
    "whole",
    "this namespace has another secret than the backup: repeats of creates would be recorded twice; nothing was written; restore into an empty namespace, or give `--overwrite` to replace the secret",
  );
  const { out } = await run(at)("restore", file("whole"), "--overwrite");
  assert.match(out, /^The namespace's secret is that of the backup now\. /m);
  assert.equal(JSON.parse(await at.kv.get("secret")).secret, SECRET);
  const again = await asked(at)("restore", file("whole"));
  assert.deepEqual([again.written, again.secretReplaced], [0, false]);
});

test("what cannot be erased yet, or at all, is left as it is, and no message quotes it", async (t) => {
  const at = await deployedKv(t);
  const erase = (id) => run(at)("erase", id, "--yes");
  await at.kv.write(recorded(before(4)).entries);
  const young = await contents(at.kv);
  const results = [await erase(ID)];
  assert.match(
    results[0].problem,
    /^stopped: it was created less than 5 minutes ago, and a repeat of the create could bring it back: nothing was erased, try again in \d+ s/,
  );
  assert.deepEqual(await contents(at.kv), young);

  await at.kv.write(recorded().entries);
  const [replay] = await Array.fromAsync(at.kv.names("idempotency:"));
  const { terms } = JSON.parse(await at.kv.get(replay));
  await at.kv.remove([replay]);
  results.push(await erase(ID));
  assert.match(
    results[1].problem,
    /its replay record was written, which is there now: nothing is erased yet, try again in 5 minutes/,
  );
  const added = JSON.parse(await at.kv.get(replay));
  assert.deepEqual([added.id, added.terms], [ID, terms]);
  results.push(await erase(ID));
  assert.match(results[2].problem, /it got its missing replay record less than 5 minutes ago/);
  assert.match(await at.kv.get(`transaction:${ID}`), /ada@example\.org/);
  await at.kv.write([{ key: replay, value: JSON.stringify({ ...added, addedAt: before(5) }) }]);
  results.push(await erase(ID));
  assert.equal(results[3].code, 0, results[3].problem);

  const damaged = idIn("live", "u", "a");
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
  assert.deepEqual(found, { transactions: [], damaged: 1 });
  const words = await run(at)("find", "--unit", "u", "--email", "ada@example.org");
  assert.match(words.out, /^1 records are damaged and left out, `transaction:ptran_\w+` first\.$/m);
  results.push(await erase(`ptran_${"e".repeat(42)}`), await erase("ada@example.org"), words);
  assert.match(results.at(-3).problem, /^stopped: there is no transaction ptran_e{42} here/);
  assert.match(results.at(-2).problem, /^stopped: this is not the ID of a transaction/);
  at.account.fault = (asked) => (/^PUT .*bulk$/.test(asked) ? { status: 403 } : undefined);
  results.push(await erase(ID));
  assert.match(results.at(-1).problem, /can't write records: status 403/);
  for (const { out, problem } of results) assert.ok(!/ada@|Ada/.test(out + problem), out + problem);
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
      "transactions",
      ["usage", "--mode", "prod"],
      "option '--mode <mode>' argument 'prod' is invalid. Allowed choices are test, live.",
    ],
    ["catalogue", ["check"], "unknown command 'check'"],
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
