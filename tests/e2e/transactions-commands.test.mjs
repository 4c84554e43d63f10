/**
 * Tests `npm run transactions`, which finds, shows, erases, sums and exports transactions. The rules are tested in
 * tests/native/transactions.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { ENTRIES, REGISTERED, ID, LIVE_ID, RECORDS, operator, seconds } from "./operator.mjs";
import { contents, scratch } from "./script.mjs";

test("a transaction is found, shown and erased", async (t) => {
  const { kv, json, words, fails, reconcile } = await operator(t);
  await kv.write([...ENTRIES, ...REGISTERED]);
  await reconcile();
  const find = ["transactions", "find", "--unit", "unit_dev"];
  const { transactions, damaged } = await json(...find, "--reference", "order-1001");
  assert.deepEqual([transactions.map(({ id }) => id), damaged], [[ID], 0]);
  for (const spelling of ["#Order-1001", " ORDER - 1001"]) {
    const found = await json("transactions", "find", "--mode", "test", "--reference", spelling);
    assert.deepEqual(
      found.transactions.map(({ id }) => id),
      [ID],
    );
  }
  const byEmail = [...find, "--mode", "test", "--email", "Ada@Example.org"];
  assert.match(
    await words(...byEmail),
    new RegExp(`^${ID}  \\S+Z  unit_dev  test  1\\.50 USD  `, "m"),
  );

  const show = ["transactions", "show", ID];
  const masked = await words(...show);
  for (const line of [
    /^E-mail +a…@e…\nFirst name +A…$/m,
    /^Reference +order-1001$/m,
    /^Safe to retry +yes: the create request had an Idempotency-Key$/m,
    /^tree +3 +– +– +T…; tree; trees$/m,
  ])
    assert.match(masked, line);
  assert.doesNotMatch(masked, /edit_key|ada@|Ada/);
  const whole = await words(...show, "--reveal");
  assert.match(whole, /^E-mail +ada@example\.org\nFirst name +Ada$/m);
  assert.ok(!whole.includes("edit_key"));
  const { transaction } = await json(...show, "--timeline");
  assert.match(transaction.timelineUrl, /\?edit_key=/);
  assert.equal(transaction.pledges[0].recipient.email, "a…@e…");
  const looked = await Array.fromAsync(kv.read(kv.names("audit:")));
  const changes = looked.map(({ value }) => JSON.parse(value ?? ""));
  for (const { command, on } of changes)
    assert.deepEqual([command, on], ["transactions reveal", [ID]]);
  assert.equal(changes.length, 2, "what is shown masked is not recorded");

  const before = await contents(kv);
  const erase = ["transactions", "erase", ID];
  await fails(
    erase,
    `Erase ${ID}? This was not confirmed, so nothing was erased. To confirm without a prompt, pass \`--yes\``,
  );
  assert.deepEqual(await contents(kv), before);
  assert.deepEqual(await json(...erase, "--yes"), { id: ID, erased: true, before: null });
  assert.doesNotMatch(await kv.get(`transaction:${ID}`), /ada@|Ada|order-1001|placed an order/);
  assert.match(await words(...erase, "--yes"), /is erased; it was first erased at \S+Z\. Amounts/);
  assert.match(
    await words(...show, "--reveal"),
    /^Erased +\S+Z\n[\s\S]*\nSafe to retry +yes: the create request had an Idempotency/m,
  );
  assert.match(await words(...byEmail), /^No matching transaction\.$/m);
});

test("nothing that a file or a record says controls the terminal", async (t) => {
  const { kv, command, printed } = await operator(t);
  const hostile = "\u001b[2J\u009b\u202e";
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const record = value.replace('"order-1001"', JSON.stringify(hostile));
  await kv.write([
    ...ENTRIES,
    ...REGISTERED,
    { key: `transaction:${LIVE_ID}`, value: record, metadata },
  ]);
  const show = ["transactions", "show", LIVE_ID, "--reveal"];
  await command(0, show);
  const { out } = await command(0, [...show, "--json"]);
  assert.equal(JSON.parse(out).transaction.reference, hostile);
  await command(1, ["prices", "set", "-"], `{"currencyCode":"${hostile}","unitPrices":{}}`);
  await command(1, ["prices", "set", hostile]);
  const file = join(scratch(t), "backup.jsonl");
  await kv.write([{ key: hostile, value: "" }]);
  await command(0, ["transactions", "backup", file]);
  await kv.write([{ key: hostile, value: "other" }]);
  await command(1, ["transactions", "restore", file]);
  assert.doesNotMatch(printed.join(""), /(?!\n)[\p{Cc}\u202e]/u);
});

test("all transactions of an e-mail address are found and erased, in one unit or in all, with a receipt", async (t) => {
  const { kv, json, words, command, jsonOf, reconcile } = await operator(t);
  await kv.write([...ENTRIES, ...REGISTERED]);
  const [find, erase] = ["find", "erase"].map((name) => [
    "transactions",
    name,
    "--email",
    "ADA@example.org",
  ]);
  await reconcile();
  const { transactions, completeUpTo } = await json(...find);
  assert.deepEqual(transactions.map(({ id }) => id).sort(), [ID, LIVE_ID].sort());
  assert.match(
    await words(...find),
    new RegExp(`^Complete up to ${seconds(completeUpTo)}\\.`, "m"),
  );
  const byReference = ["transactions", "find", "--reference", "order-1001"];
  assert.deepEqual(
    (await json(...byReference)).transactions.map(({ id }) => id).sort(),
    [ID, LIVE_ID].sort(),
  );
  const before = await contents(kv);
  const asked = await command(1, erase);
  assert.match(asked.problem, /^stopped: Erase this person in unit_dev\S*, unit_dev\S*\?/m);
  const inUnit = [...erase, "--unit", "unit_dev"];
  const askedInUnit = await command(1, inUnit);
  assert.match(
    askedInUnit.problem,
    new RegExp(`^${ID} (?:.*\\n)+stopped: Erase this person in unit_dev\\?`, "m"),
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
  assert.match(left.problem, /^the transaction was created less than 5 minutes ago/);
  await kv.remove([young]);
  assert.match(await words(...erase, "--yes"), /^No matching transaction\. Nothing was erased\.$/m);
  assert.match(
    await words(...inUnit, "--yes"),
    /^No matching transaction\. Nothing was erased\.$/m,
  );
  assert.doesNotMatch(JSON.stringify(await contents(kv)), /ada@/i);
});

test("a month is summed, and its pledges are exported as lines of a new file, in which no cell is a formula", async (t) => {
  const { kv, json, words, command, fails, reconcile } = await operator(t);
  await kv.write([...ENTRIES, ...REGISTERED]);
  const began = Date.now();
  const formula = '=cmd|"/c calc"!A1';
  const summary = {
    createdAt: "2026-11-30T23:59:59.999Z",
    amount: "0.10",
    currencyCode: "EUR",
    quantities: [],
  };
  const other = `ptran_${"a".repeat(42)}`;
  const metadata = { version: 1, mode: "live", unit: formula, editKey: "0", summary };
  const of = RECORDS[`transaction:${LIVE_ID}`];
  const { pledges, ...order } = JSON.parse(of.value);
  const [{ impact, ...pledge }] = pledges;
  const twice = JSON.stringify({
    ...order,
    reference: "-1\n\u001b[2J",
    pledges: [pledges[0], { ...pledge, impact: { ...impact, amount: 1e21 } }],
  });
  await kv.write([
    { key: `transaction:${other}`, value: "", metadata },
    { key: `transaction:${LIVE_ID}`, value: twice, metadata: of.metadata },
    { key: "profile:unit_dev_two", value: '{"name":"Nord, Süd"}' },
  ]);
  await reconcile();
  const folder = scratch(t);
  const file = join(folder, "november.csv");
  const month = ["transactions", "export", "--month", "2026-11"];
  const sum = (unit, amount, currencyCode) => ({
    unit,
    mode: "live",
    month: "2026-11",
    currencyCode,
    transactions: 1,
    unpriced: 0,
    amount,
    credited: "0.00",
    carried: "0.00",
    due: amount,
    settled: null,
  });
  const sums = [sum(formula, "0.10", "EUR"), sum("unit_dev_two", "1.50", "USD")];
  const { completeUpTo } = await json(...month);
  const passAt = Date.parse(completeUpTo) + 120_000;
  assert.ok(passAt >= began && passAt <= Date.now(), completeUpTo);
  const beside = { damaged: 0, completeUpTo };
  const answer = { month: "2026-11", mode: "live", sums, transactions: 2, ...beside };
  symlinkSync(join(folder, "elsewhere"), `${file}.part`);
  assert.deepEqual(await json(...month, "--csv", file), { ...answer, file });
  const csv = readFileSync(file, "utf8");
  const { createdAt } = of.metadata.summary;
  const beginning = `${LIVE_ID},${createdAt},live,unit_dev_two,"Nord, Süd",'-1\ufffd\ufffd[2J,tree`;
  assert.deepEqual(csv.split("\r\n"), [
    "\ufeffid,created,mode,unit,name,reference,offering,quantity,amount,currency,unpriced,erased,unit_price,kind",
    `${other},${summary.createdAt},live,"'=cmd|""/c calc""!A1",,,,,0.10,EUR,0,,,transaction`,
    `${beginning},3,1.50,USD,0,,,transaction`,
    `${beginning},1e+21,,USD,,,,transaction`,
    "",
  ]);
  assert.deepEqual(readdirSync(folder), ["november.csv"]);
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  await fails(
    [...month, "--csv", file],
    `${file} already exists, and is not overwritten: choose another name`,
  );
  await fails([...month, "--csv", join(file, "x")], /november\.csv\/x can't be written: ENOTDIR/);
  const piped = await command(0, [...month, "--csv", "-"]);
  assert.equal(piped.out, csv);
  assert.match(piped.problem, /^2026-11 +unit_dev_two +live +1 +1\.50 +1\.50 +USD$/m);
  assert.deepEqual(await json(...month, "--unit", "unit_dev_two"), {
    ...answer,
    sums: sums.slice(1),
    transactions: 1,
    file: null,
  });
  assert.equal((await json(...month, "--mode", "both")).transactions, 3);
  assert.match(
    await words("transactions", "export", "--month", "2025-01"),
    /^no live transactions in 2025-01$/m,
  );
});

test("transactions with an offering that had no price are listed, and the exit code says so", async (t) => {
  const { kv, json, words, command, wordsOf, jsonOf, reconcile } = await operator(t);
  await kv.write([...ENTRIES, ...REGISTERED]);
  await reconcile();
  const unpriced = ["transactions", "usage", "--unpriced"];
  assert.match(await words(...unpriced), /^every offering of these transactions had a price$/m);
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const ids = ["e", "i"].map((last) => `${LIVE_ID.slice(0, -1)}${last}`);
  const misspelt = {
    value: value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
    metadata: { ...metadata, summary: { ...metadata.summary, unpriced: 1 } },
  };
  await kv.write(ids.map((id) => ({ ...misspelt, key: `transaction:${id}` })));
  await reconcile();
  const found = jsonOf(await command(1, [...unpriced, "--unit", "unit_dev_two", "--json"]));
  const { sums, examples } = found;
  assert.deepEqual([found.month, sums.map(({ amount }) => amount)], [null, ["4.50"]]);
  assert.deepEqual(
    examples.map(({ id, unpriced }) => [id, unpriced]),
    ids.map((id) => [id, 1]).reverse(),
  );
  const shown = wordsOf(await command(1, [...unpriced, "--month", "2026-11"]));
  assert.match(shown, /^2026-11 +unit_dev_two +live +3 +2 +4\.50 +4\.50 USD$/m);
  const line = new RegExp(
    `^${ids[0]} +\\S+Z +unit_dev_two +live +1\\.50 USD +1\\.50 +Unpriced: 1$`,
    "m",
  );
  assert.match(shown, line);
  const list = ["transactions", "list", "--state", "unpriced"];
  assert.match(await words(...list), line);
  const listed = async (...more) => (await json(...list, ...more)).transactions.map(({ id }) => id);
  assert.deepEqual(await listed(), ids.toReversed());
  assert.deepEqual(await listed("--limit", "1", "--month", "2026-11"), [ids[1]]);
  assert.deepEqual(await listed("--mode", "test"), []);
  assert.match(await words("transactions", "show", ids[0]), /^tre +3 /m);
});

test("quantities of a month are summed by offering, for one unit or for all", async (t) => {
  const { kv, json, words, reconcile } = await operator(t);
  await kv.write([...ENTRIES, ...REGISTERED]);
  await reconcile();
  const quantities = ["transactions", "quantities", "--month", "2026-11"];
  const sum = { month: "2026-11", mode: "live", offering: "tree", transactions: 1, quantity: "3" };
  const { completeUpTo, ...answer } = await json(...quantities);
  const beside = { more: false, damaged: 0, leftOut: 0 };
  assert.deepEqual(answer, { month: "2026-11", mode: "live", quantities: [sum], ...beside });
  assert.match(await words(...quantities), /^tree +3 +1 +live$/m);
  assert.match(
    await words(...quantities),
    new RegExp(`^Complete up to ${seconds(completeUpTo)}`, "m"),
  );
  const nothing = /^Nothing was pledged in 2026-11\.$/m;
  assert.match(await words(...quantities, "--unit", "unit_dev"), nothing);
  assert.equal((await json(...quantities, "--mode", "both")).quantities.length, 2);
});

test("without a database a command says that it needs one", async (t) => {
  const { kv, fails } = await operator(t);
  await kv.write([...ENTRIES, ...REGISTERED]);
  kv.ledger = null;
  const month = ["--month", "2026-11"];
  for (const [name, ...args] of [
    ["find", "--unit", "unit_dev", "--email", "ada@example.org"],
    ["find", "--unit", "unit_dev_two", "--reference", "order-1001"],
    ["list"],
    ["usage"],
    ["quantities", ...month],
    ["export", ...month],
    ["erase", "--email", "ada@example.org", "--yes"],
    ["erase", ID, "--yes"],
  ])
    await fails(["transactions", name, ...args], /^this needs the ledger/);
});
