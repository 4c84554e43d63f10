/**
 * The operator's commands, in this process, on this machine's KV: what they take, write and print. The rules are proven
 * in tests/operator.rs and tests/transactions.rs, Cloudflare's API in kv.test.mjs.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { UserError, placeInWords } from "../../scripts/lib/output.mjs";
import { fixturesIn } from "../support/fixtures.mjs";
import { contents, localKv, run, scratch } from "./script.mjs";

const nameOf = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

/**
 * The commands on records of their own. `json` and `words` return what is printed behind the place, `fails` what is
 * said instead; `printed` is all that was.
 */
async function operator(t) {
  const kv = await localKv(t);
  const where = placeInWords(kv.place);
  const printed = [];
  const command = async (code, args, input) => {
    const ended = await run(args[0], args.slice(1), { kv, input });
    printed.push(ended.out, ended.problem);
    assert.equal(ended.code, code, ended.problem);
    return ended;
  };
  const jsonOf = ({ out }) => {
    const { place, ...answer } = JSON.parse(out);
    assert.deepEqual(place, kv.place);
    return answer;
  };
  const wordsOf = ({ out }) => {
    const [first, empty, ...rest] = out.split("\n");
    assert.deepEqual([first, empty], [where, ""]);
    return rest.join("\n");
  };
  return {
    kv,
    printed,
    command,
    json: async (...args) => jsonOf(await command(0, [...args, "--json"])),
    words: async (...args) => wordsOf(await command(0, args)),
    wordsOf,
    jsonOf,
    fails: async (args, message, input) => {
      const { out, problem } = await command(1, args, input);
      assert.equal(out, "");
      const [, said] = problem.match(/^stopped: (.*) \((.*)\)\n$/) ?? [];
      assert.ok(problem.endsWith(` (${where})\n`), problem);
      assert[message instanceof RegExp ? "match" : "equal"](said, message);
    },
    /** Those of all records but the record of changes. */
    names: async () =>
      (await Array.fromAsync(kv.names())).filter((name) => !name.startsWith("audit:")),
  };
}

// ---- Keys ----------------------------------------------------------------------------------------

test("keys are made, listed, replaced and revoked, and no output shows the namespace's secret", async (t) => {
  const { kv, json, words, command, names, printed } = await operator(t);
  const unit = ["--mode", "live", "--unit", "unit_1", "--label", "Grüße"];
  const { key, ...row } = await json("keys", "create", ...unit);
  const scope = { mode: "live", level: "unit", unitId: "unit_1", label: "Grüße" };
  assert.match(key, /^service_sk_live_[a-z2-7]{40}$/);
  assert.deepEqual(row, { id: nameOf(key).slice(4, 16), name: nameOf(key), ...scope });
  const { secret, ...record } = JSON.parse(await kv.get(row.name));
  assert.deepEqual(record, { ...scope, version: 1 });

  const team = ["--mode", "test", "--level", "team", "--team", "t", "--unit", "a", "--unit", "b"];
  const [teamKey] = (await words("keys", "create", ...team)).split("\n");
  assert.match(teamKey, /^service_sk_test_[a-z2-7]{40}$/);
  const { unitIds } = JSON.parse(await kv.get(nameOf(teamKey)));
  assert.deepEqual(unitIds, ["a", "b"]);

  const damaged = `key:${"0".repeat(64)}`;
  await kv.write([{ key: damaged, value: "{}" }]);
  const list = await words("keys", "list");
  assert.match(list, new RegExp(`^${row.id}  live  unit   unit_1 +Grüße$`, "m"));
  assert.match(list, /^[0-9a-f]{12} {2}test {2}team {3}t +a b$/m);
  assert.match(list, /^0{12} {2}\? .*unreadable record: missing field `mode`$/m);
  assert.ok(!list.includes(key));

  const before = Date.now();
  const { replaces, ...second } = await json("keys", "rotate", row.id, "--keep", "24h");
  assert.deepEqual({ ...second, key, id: row.id, name: row.name }, { key, ...row });
  const [{ expiration }] = await Array.fromAsync(kv.list(row.name));
  assert.ok(Math.abs(expiration * 1000 - before - 86_400_000) < 60_000, `${expiration}`);
  assert.ok(Math.abs(Date.parse(replaces.ends) - expiration * 1000) < 60_000, replaces.ends);
  const { keys } = await json("keys", "list");
  const ends = Object.fromEntries(keys.map(({ id, ends }) => [id, ends]));
  assert.deepEqual([Date.parse(ends[row.id]) / 1000, ends[second.id]], [expiration, undefined]);
  const third = await json("keys", "rotate", second.id, "--keep", "0");
  assert.ok(!(await names()).includes(second.name));

  const revoked = await json("keys", "revoke", third.id);
  assert.deepEqual(revoked, { id: third.id, name: third.name, revoked: true, found: true });
  await command(0, ["keys", "revoke"], `${teamKey}\n`); // the key itself, on standard input
  const again = await words("keys", "revoke", nameOf(teamKey));
  assert.match(again, /is revoked, but no record of it was found: was it a key of this place\?$/m);
  assert.deepEqual(await names(), [damaged, row.name, "secret"].sort());
  assert.ok(!printed.join("").includes(secret));
});

test("a change is recorded with who made it, and what is not recorded is not made", async (t) => {
  const { kv, json, fails, command } = await operator(t);
  const changes = async () => {
    const records = await Array.fromAsync(kv.read(kv.names("audit:")));
    return records.map(({ value }) => JSON.parse(value ?? "")).reverse();
  };
  const { id } = await json("keys", "create", "--mode", "test", "--unit", "u", "--by", "Ada");
  await json("units", "set", "u", "--name", "N");
  assert.deepEqual(
    (await changes()).map(({ by, command, on }) => [by, command, on]),
    [
      ["Ada", "keys create", [id]],
      [userInfo().username, "units set", ["u"]],
    ],
  );
  const { write } = kv;
  kv.write = async ([entry]) => {
    if (entry.key.startsWith("audit:")) throw new UserError("local KV can't write a record");
    await write.call(kv, [entry]);
  };
  const before = await contents(kv);
  await fails(["keys", "rotate", id, "--keep", "0"], "local KV can't write a record");
  await command(1, ["units", "remove", "u", "--by", ""]);
  assert.deepEqual(await contents(kv), before);
});

test("a key that is not named deletes nothing, and a failure is JSON for programs", async (t) => {
  const { kv, command, jsonOf, fails, names } = await operator(t);
  const twins = ["1", "2"].map((last) => `key:${"a".repeat(63)}${last}`);
  await kv.write(twins.map((key) => ({ key, value: "{}" })));
  await fails(["keys", "revoke"], /^2 keys have IDs that begin with `a{12}`/, "a".repeat(12));
  await fails(["keys", "revoke"], /^no key has the ID `b{12}`/, "b".repeat(12));
  const unknown = ["keys", "rotate", "f".repeat(64), "--keep", "0", "--json"];
  const message = "there is no key ffffffffffff: nothing was done";
  assert.deepEqual(jsonOf(await command(1, unknown)), { error: { code: "failed", message } });
  assert.deepEqual(await names(), twins);
});

test("where the old key's end can't be written, the new key is shown all the same", async (t) => {
  const { kv, json, command, jsonOf, wordsOf, names } = await operator(t);
  const { id } = await json("keys", "create", "--mode", "live", "--unit", "u");
  const { write } = kv;
  kv.write = async (entries) => {
    if ((await Array.fromAsync(entries)).some(({ key }) => key.slice(4, 16) === id))
      throw new UserError("status 403");
    await write.call(kv, entries);
  };
  const rotate = ["keys", "rotate", id, "--keep", "1h"];
  const { key, error } = jsonOf(await command(1, [...rotate, "--json"]));
  const works = `${id} goes on without an end, and the new key ${nameOf(key).slice(4, 16)} works`;
  assert.ok(error.message.startsWith(works), error.message);
  const [shown] = wordsOf(await command(1, rotate)).split("\n");
  for (const each of [key, shown]) assert.ok((await names()).includes(nameOf(each)));
});

// ---- Prices and profiles -------------------------------------------------------------------------

test("each mode has prices of its own, and a wrong file changes none", async (t) => {
  const { kv, json, words, fails, command } = await operator(t);
  const EUR = { currencyCode: "EUR", unitPrices: { tree: "0.50" } };
  const GBP = { currencyCode: "GBP", unitPrices: {} };
  assert.deepEqual(await json("catalogue", "show"), { catalogues: { test: null, live: null } });
  assert.match(await words("catalogue", "show"), /^prices of live keys\nno catalogue is set/m);
  await command(0, ["catalogue", "set", "-", "--mode", "test"], JSON.stringify(GBP));
  const file = join(scratch(t), "prices.json");
  writeFileSync(file, JSON.stringify(EUR));
  assert.match(
    await words("catalogue", "set", file, "--mode", "live"),
    /^prices of live keys\nOFFERING {2}EUR\ntree {6}0\.50$/m,
  );
  assert.deepEqual(JSON.parse(await kv.get("catalogue:live")), { ...EUR, version: 1 });
  const { catalogues } = await json("catalogue", "show");
  assert.deepEqual(catalogues, { test: GBP, live: EUR });
  assert.deepEqual(await json("catalogue", "show", "--mode", "test"), {
    catalogues: { test: GBP },
  });

  await fails(
    ["catalogue", "set", "-"],
    /^the catalogue: .*write a plain decimal in quotes.* at line 1 column 46$/,
    '{"currencyCode":"EUR","unitPrices":{"tree":0.5}}',
  );
  await fails(["catalogue", "set", `${file}.csv`], /prices\.json\.csv: ENOENT: /);
  writeFileSync(file, "tree,0.50\n");
  await fails(
    ["catalogue", "set", file],
    `${file}: is not JSON: expected ident at line 1 column 3`,
  );
  assert.deepEqual(await json("catalogue", "show"), { catalogues });
  writeFileSync(file, JSON.stringify(EUR));
  assert.deepEqual(await json("catalogue", "set", file), { catalogues: { test: EUR, live: EUR } });
});

test("a unit's profile is set, shown, listed and removed", async (t) => {
  const { kv, json, words, fails, names } = await operator(t);
  const profile = {
    name: "Café “Nord” & Süd",
    logo: "https://nord.example/logo.svg",
    accent: "#8a4b2a",
    language: "de",
    link: "https://nord.example/",
  };
  const options = Object.entries(profile).flatMap(([name, value]) => [`--${name}`, value]);
  const row = { unit: "unit_1", profile };
  assert.deepEqual(await json("units", "set", "unit_1", ...options), row);
  assert.deepEqual(JSON.parse(await kv.get("profile:unit_1")), { ...profile, version: 1 });
  assert.deepEqual(await json("units", "show", "unit_1"), row);
  assert.match(await words("units", "show", "unit_1"), /^unit_1 +Café “Nord” & Süd +https:/m);
  await words("units", "set", "unit_1", "--name", "Nord");
  assert.equal(await kv.get("profile:unit_1"), '{"name":"Nord","version":1}'); // as a whole
  await kv.write([{ key: "profile:unit_0", value: "{}" }]);
  const { units } = await json("units", "list");
  assert.deepEqual(units[1], { unit: "unit_1", profile: { name: "Nord" } });
  assert.match(
    await words("units", "list"),
    /^unit_0 +unreadable record: `name` is out of bounds/m,
  );

  const wrong = ["units", "set", "unit_1", "--name", "Nord", "--link", "http://nord.example/"];
  await fails(
    wrong,
    "`logo` and `link` are addresses: write `https://…` without a user, at most 2,048 bytes",
  );
  await fails(["units", "remove", "unit_2"], "the unit `unit_2` has no profile");
  for (const unit of ["unit_0", "unit_1"])
    assert.deepEqual(await json("units", "remove", unit), { unit, removed: true });
  assert.deepEqual(await names(), []);
  assert.equal(await words("units", "list"), "no profiles\n");
  await fails(
    ["units", "show", "unit_1"],
    "the unit `unit_1` has no profile: its timelines show the name Impact Pledge",
  );
});

// ---- Transactions --------------------------------------------------------------------------------

const ID = "ptran_f74hxzdgxljvqeegtsq7kummqadht4ietopodwyawa"; // a test key's of unit_dev
const LIVE_ID = "ptran_jsbk2rxqdo5lmnfxgaytemzugu3doobzmfrggzdfmy"; // of unit_dev_two
const { records: RECORDS } = fixturesIn("records").find(({ file }) => file === "format-1.json");
const ENTRIES = [
  ...Object.entries(RECORDS).map(([key, { value, metadata }]) => ({
    key,
    value,
    ...(metadata && { metadata }),
  })),
  { key: "secret", value: JSON.stringify({ secret: "0f".repeat(32), version: 1 }) },
];

test("a transaction is found, shown and erased", async (t) => {
  const { kv, json, words, fails } = await operator(t);
  await kv.write(ENTRIES);
  const find = ["transactions", "find", "--unit", "unit_dev"];
  const { transactions, damaged } = await json(...find, "--reference", "order-1001");
  assert.deepEqual([transactions.map(({ id }) => id), damaged], [[ID], 0]);
  const byEmail = [...find, "--mode", "test", "--email", "Ada@Example.org"];
  assert.match(await words(...byEmail), new RegExp(`^${ID}  \\S+Z  test  1\\.50 USD$`, "m"));

  const show = ["transactions", "show", ID];
  const masked = await words(...show);
  for (const line of [
    /^Recipient +a…@e…, A…$/m,
    /^Reference +order-1001$/m,
    /^Record +made with an Idempotency-Key$/m,
    /^tree +3 +T…, t…, t…$/m,
  ])
    assert.match(masked, line);
  assert.doesNotMatch(masked, /edit_key|ada@|Ada/);
  const whole = await words(...show, "--reveal");
  assert.match(whole, /^Recipient +ada@example\.org, Ada$/m);
  assert.ok(!whole.includes("edit_key"));
  const { transaction } = await json(...show, "--timeline");
  assert.match(transaction.timelineUrl, /\?edit_key=/);
  assert.equal(transaction.pledges[0].recipient.email, "a…@e…");

  const before = await contents(kv);
  const erase = ["transactions", "erase", ID];
  await fails(
    erase,
    `Erase ${ID} of ${placeInWords(kv.place)}? This cannot be undone. Add \`--yes\` to say so without a terminal: nothing was erased`,
  );
  assert.deepEqual(await contents(kv), before);
  assert.deepEqual(await json(...erase, "--yes"), { id: ID, erased: true, before: null });
  assert.doesNotMatch(await kv.get(`transaction:${ID}`), /ada@|Ada|order-1001|placed an order/);
  assert.match(await words(...erase, "--yes"), /is erased, as it was on \S+Z: amounts/);
  assert.match(await words(...show, "--reveal"), /^Record +erased .+, made with an Idempotency/m);
  assert.match(await words(...byEmail), /^no such transaction$/m);
});

test("what an address has is found and erased, in one unit or in all, with a receipt", async (t) => {
  const { kv, json, words, fails, command, jsonOf } = await operator(t);
  await kv.write(ENTRIES);
  const [find, erase] = ["find", "erase"].map((name) => [
    "transactions",
    name,
    "--email",
    "ADA@example.org",
  ]);
  const to = `To look through all units of ${placeInWords(kv.place)}, 2 transactions are listed`;
  const how = "Add `--yes` to say so without a terminal:";
  await fails(find, `${to}. Go on? ${how} nothing was looked for`);
  const { transactions } = await json(...find, "--yes");
  assert.deepEqual(transactions.map(({ id }) => id).sort(), [ID, LIVE_ID].sort());
  const before = await contents(kv);
  await fails(
    erase,
    `${to}, and those of this address are erased for good. Go on? ${how} nothing was erased`,
  );
  const inUnit = [...erase, "--unit", "unit_dev"];
  const asked = await command(1, inUnit);
  assert.match(
    asked.problem,
    new RegExp(`^${ID} .*\\n\\nstopped: Erase these 1 transactions of `, "m"),
  );
  assert.deepEqual(await contents(kv), before);

  const { by, transactions: receipt } = await json(...inUnit, "--yes", "--by", "Zoë");
  const row = { id: ID, unit: "unit_dev", mode: "test" };
  assert.deepEqual([by, receipt], ["Zoë", [{ ...row, erased: receipt[0].erased }]]);
  const young = `transaction:${LIVE_ID.slice(0, -1)}e`;
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const now = value.replace(/"createdAt":"[^"]+"/, `"createdAt":"${new Date().toISOString()}"`);
  await kv.write([{ key: young, value: now, metadata }]);
  const rest = jsonOf(await command(1, [...erase, "--yes", "--json"])).transactions;
  const [left] = rest.filter(({ erased }) => erased === null);
  assert.deepEqual([rest.length, `transaction:${left.id}`], [2, young]);
  assert.match(left.problem, /^it was created less than 5 minutes ago/);
  await kv.remove([young]);
  assert.match(await words(...erase, "--yes"), /^no such transaction: nothing was erased$/m);
  assert.doesNotMatch(JSON.stringify(await contents(kv)), /ada@/i);
});

test("a month is summed, and no cell is a formula", async (t) => {
  const { kv, json, words, command } = await operator(t);
  await kv.write(ENTRIES);
  const formula = '=cmd|"/c calc"!A1';
  const summary = { createdAt: "2026-11-30T23:59:59.999Z", amount: "0.10", currencyCode: "EUR" };
  const other = `ptran_${"a".repeat(42)}`;
  const metadata = { version: 1, mode: "live", unit: formula, editKey: "0", summary };
  await kv.write([{ key: `transaction:${other}`, value: "", metadata }]);
  const file = join(scratch(t), "november.csv");
  const month = ["transactions", "export", "--month", "2026-11", "--mode", "live"];
  const sum = (unit, amount, currencyCode) => ({
    unit,
    mode: "live",
    currencyCode,
    transactions: 1,
    unpriced: 0,
    amount,
  });
  const sums = [sum(formula, "0.10", "EUR"), sum("unit_dev_two", "1.50", "USD")];
  const answer = { month: "2026-11", sums, transactions: 2, damaged: 0 };
  assert.deepEqual(await json(...month, "--csv", file), { ...answer, file });
  const csv = readFileSync(file, "utf8");
  const { createdAt } = RECORDS[`transaction:${LIVE_ID}`].metadata.summary;
  assert.deepEqual(csv.split("\r\n"), [
    "id,createdAt,mode,unit,amount,currencyCode,unpriced,erased",
    `${other},${summary.createdAt},live,"'=cmd|""/c calc""!A1",0.10,EUR,0,`,
    `${LIVE_ID},${createdAt},live,unit_dev_two,1.50,USD,0,`,
    "",
  ]);
  assert.ok(!existsSync(`${file}.part`));
  const piped = await command(0, [...month, "--csv"]);
  assert.equal(piped.out, csv);
  assert.match(piped.problem, /^unit_dev_two +live +1 +1\.50 +USD$/m);
  assert.deepEqual(await json(...month, "--unit", "unit_dev_two"), {
    ...answer,
    sums: sums.slice(1),
    transactions: 1,
    file: null,
  });
  assert.match(
    await words("transactions", "export", "--month", "2025-01"),
    /^no transactions in 2025-01$/m,
  );
});

test("transactions with an offering that had no price are listed, and the exit code says so", async (t) => {
  const { kv, words, command, wordsOf, jsonOf } = await operator(t);
  await kv.write(ENTRIES);
  const unpriced = ["transactions", "usage", "--unpriced"];
  assert.match(await words(...unpriced), /^every offering of these transactions had a price$/m);
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const ids = ["e", "i"].map((last) => `${LIVE_ID.slice(0, -1)}${last}`);
  const misspelt = {
    value: value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
    metadata: { ...metadata, summary: { ...metadata.summary, unpriced: 1 } },
  };
  await kv.write(ids.map((id) => ({ ...misspelt, key: `transaction:${id}` })));
  const found = jsonOf(await command(1, [...unpriced, "--unit", "unit_dev_two", "--json"]));
  const { sums, examples } = found;
  assert.deepEqual([found.transactions, found.month, sums[0].amount], [2, null, "3.00"]);
  assert.deepEqual(
    examples.map(({ id, unpriced }) => [id, unpriced]),
    ids.map((id) => [id, 1]),
  );
  const shown = wordsOf(await command(1, [...unpriced, "--month", "2026-11"]));
  assert.match(shown, /^unit_dev_two +live +2 +3\.00 +USD +2$/m);
  assert.match(shown, new RegExp(`^${ids[0]} +\\S+Z +live +1\\.50 USD +1$`, "m"));
  assert.match(await words("transactions", "show", ids[0]), /^tre +3 /m);
});

test("a backup is made and restored", async (t) => {
  const { kv, json, words, fails } = await operator(t);
  await kv.write(ENTRIES);
  const before = await contents(kv);
  const file = join(scratch(t), "backup.jsonl");
  const [backup, restore] = ["backup", "restore"].map((name) => ["transactions", name, file]);
  assert.match(await words(...backup), new RegExp(`^.*backup\\.jsonl: ${ENTRIES.length} records`));
  await fails(backup, `${file} exists, and no file is overwritten: choose another name`);
  await kv.remove(Object.keys(before));
  const { from, written, secretReplaced } = await json(...restore, "--with-keys", "--yes");
  assert.deepEqual([from.place, written, secretReplaced], [kv.place, ENTRIES.length, false]);
  assert.deepEqual(await unaudited(kv), before);
  await kv.write([{ key: "catalogue:test", value: "{}" }]);
  await fails(restore, /^the place has another record `catalogue:test`: nothing was overwritten/);
  const done =
    /^1 records of .+ are written and read back, \d+ were there already, 0 have expired since, 0 stay erased, 3 are left out\./;
  assert.match(await words(...restore, "--overwrite"), done);
  assert.deepEqual(await unaudited(kv), before);
});

/** All but the record of changes. */
async function unaudited(kv) {
  const all = Object.entries(await contents(kv));
  return Object.fromEntries(all.filter(([name]) => !name.startsWith("audit:")));
}

test("a restore brings back no erased person and no revoked key", async (t) => {
  const { kv, json, words, command, names } = await operator(t);
  await kv.write(ENTRIES);
  const folder = scratch(t);
  const [early, late] = ["early", "late"].map((name) => join(folder, `${name}.jsonl`));
  await json("transactions", "backup", early);
  await json("transactions", "erase", ID, "--yes");
  const [key] = (await names()).filter((name) => name.startsWith("key:9a9bc3c4"));
  await command(0, ["keys", "revoke", key]);
  await json("transactions", "backup", late);
  const erased = await contents(kv);

  const restore = ["transactions", "restore", early, "--overwrite"];
  const { written, erased: kept, left, keys, sha256 } = await json(...restore);
  assert.deepEqual([written, kept, left, keys.count], [0, 1, 3, 1]);
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
  const noKeys = Object.entries(erased).filter(([name]) => !name.startsWith("key:"));
  assert.deepEqual(Object.fromEntries(all), Object.fromEntries(noKeys));

  const withKeys = [...restore, "--with-keys"];
  const { problem } = await command(1, withKeys);
  assert.match(
    problem,
    /^9a9bc3c4ae87 {2}live {2}unit_dev\n(?:.*\n)*stopped: Bring these API keys/m,
  );
  assert.ok(!(await names()).includes(key));
  assert.deepEqual((await json(...withKeys, "--yes")).keys.count, 3);
  assert.ok((await names()).includes(key));
});
