/** Tests `npm run payments`, which marks a month as paid and removes that mark again. */
import assert from "node:assert/strict";
import test from "node:test";
import { ENTRIES, REGISTERED, LIVE_ID, RECORDS, operator } from "./operator.mjs";
import { contents } from "./script.mjs";

test("a month is marked as paid by its exact sum, shown as paid, left out of unpaid exports, and marked as unpaid again", async (t) => {
  const { changed, kv, json, words, command, fails, reconcile } = await operator(t);
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const inOctober = (last, more) => ({
    key: `transaction:${LIVE_ID.slice(0, -1)}${last}`,
    value: value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
    metadata: {
      ...metadata,
      summary: { ...metadata.summary, createdAt: "2025-10-31T23:59:59.999Z", ...more },
    },
  });
  const euros = { amount: "0.30", currencyCode: "EUR", unpriced: 2 };
  await kv.write([...ENTRIES, ...REGISTERED, inOctober("e", {}), inOctober("i", euros)]);
  await reconcile();
  const october = ["--unit", "unit_dev_two", "--month", "2025-10"];
  const paid = ["--paid-at", "2025-11-05", "--invoice", "2025/17", "--by", "Ada"];
  const mark = (...more) => ["payments", "mark", ...october, ...paid, ...more];
  const both = ["--amount", "USD=1.5", "--amount", "EUR=0.30"];
  const open = await json("payments", "due", "--month", "2025-10", "--unit", "unit_dev_two");
  assert.deepEqual(
    open.sums.map(({ due, currencyCode, settled }) => [due, currencyCode, settled]),
    [
      ["0.30", "EUR", null],
      ["1.50", "USD", null],
    ],
  );
  assert.match(
    await words("payments", "due", "--month", "2025-10"),
    /^2025-10 +unit_dev_two +live/m,
  );
  const statement = await json("payments", "statement", ...october);
  assert.deepEqual([statement.number, statement.complete], ["unit_dev_two-2025-10-live", true]);
  const [eur, usd] = statement.sums; // the records have no price list, so nothing is split by a guess
  assert.deepEqual(eur.lines, [{ kind: "other", transactions: 1, amount: "0.30" }]);
  assert.deepEqual(
    [usd.lines, usd.due],
    [[{ kind: "other", transactions: 1, amount: "1.50" }], "1.50"],
  );
  assert.match(await words("payments", "statement", ...october), /^Due +1\.50$/m);
  const before = await contents(kv);
  const month = "2025-10 of the unit `unit_dev_two` (live)";
  await fails(
    mark("--amount", "1.80"),
    `nothing was marked: ${month} has sums in several currencies: name the currency of each amount`,
  );
  await fails(
    mark("--amount", "USD=1.80"),
    `nothing was marked: ${month} has a sum of 0.30 EUR and 1.50 USD, not of 1.80 USD`,
  );
  await fails(mark(...both), /has 2 unpriced pledges, for example in ptran_\S+i, charged 0\.00/);
  const right = mark(...both, "--accept-unpriced", "2");
  await fails(right, /^Mark 2025-10 of unit_dev_two \(live\) as paid\? This was not confirmed/);
  assert.deepEqual(await contents(kv), before);
  const sums = [
    { currencyCode: "EUR", amount: "0.30", transactions: 1, unpriced: 2 },
    { currencyCode: "USD", amount: "1.50", transactions: 1, unpriced: 0 },
  ];
  const { at, ...marked } = await json(...right, "--yes");
  const of = { unit: "unit_dev_two", mode: "live", month: "2025-10" };
  const payment = { paidAt: "2025-11-05T00:00:00.000Z", sums, invoice: "2025/17", by: "Ada" };
  assert.deepEqual(marked, { ...of, ...payment });
  const name = "settlement:live:unit_dev_two:2025-10";
  assert.deepEqual(await changed(name), { ...payment, at, version: 1 });
  await fails(
    [...right, "--yes"],
    /is already marked as paid: 0\.30 EUR and 1\.50 USD paid on 2025-11-05/,
  );

  await kv.write([inOctober("m", {})]); // which only an operator's own write could cause
  await reconcile();
  const lines =
    /^2025-10 +unit_dev_two +live +1 +2 +0\.30 +0\.30 EUR +0\.30 +2025-11-05T00:00:00Z +2025\/17$/m;
  assert.match(await words("transactions", "usage", ...october), lines);
  const usage = await json("transactions", "usage", ...october);
  const settled = { amount: "1.50", paidAt: payment.paidAt, invoice: "2025/17" };
  const [, dollars] = usage.sums;
  const late = [`${LIVE_ID.slice(0, -1)}m`];
  assert.deepEqual([dollars.amount, dollars.settled, dollars.late], ["3.00", settled, late]);
  const named = `^2025-10 of unit_dev_two \\(live\\): ${late}$`;
  assert.match(await words("transactions", "usage", ...october), new RegExp(named, "m"));
  const { now, ...shown } = await json("payments", "show", ...october);
  assert.deepEqual([shown.sums, now.map(({ amount }) => amount)], [sums, ["0.30", "3.00"]]);
  assert.match(
    await words("payments", "show", ...october),
    /^Due now: 0\.30 EUR and 3\.00 USD\.$/m,
  );
  const view = ["transactions", "show", `${LIVE_ID.slice(0, -1)}e`];
  assert.match(await words(...view), /^Paid +2025-11-05$/m);
  const unpaid = ["transactions", "export", "--month", "2025-10", "--unpaid"];
  assert.match(await words(...unpaid), /^no unpaid live transactions in 2025-10$/m);
  assert.equal((await json(...unpaid.slice(0, -1))).transactions, 3);
  const list = ["payments", "list", "--unit", "unit_dev_two"];
  assert.deepEqual((await json(...list)).payments, [{ ...marked, at }]);
  assert.match(await words(...list), /^2025-10 +live +1\.50 +USD +1 +2025-11-05T/m);

  const undo = ["payments", "undo", ...october];
  await fails(
    [...undo, "--mode", "test"],
    "nothing was undone: 2025-10 of unit_dev_two (test) is not marked as paid",
  );
  const asked = await command(1, undo);
  assert.match(
    asked.problem,
    /^Amount +0\.30 EUR, .+; 1\.50 USD, .+stopped: Mark 2025-10 of unit_dev_two .+ as unpaid\?/ms,
  );
  assert.deepEqual(await json(...undo, "--yes"), { ...marked, at });
  assert.equal(JSON.parse((await kv.get(name)) ?? "").removed, true);
  assert.match(await words(...list), /^No month is marked as paid\.$/m);
  assert.match(await words(...view), /^Paid +Not yet$/m);
  await fails(
    ["payments", "show", ...october],
    "2025-10 of unit_dev_two (live) is not marked as paid",
  );
  assert.equal((await json(...unpaid)).transactions, 3);
});
