/**
 * Tests `npm run credits`: a transaction is credited in two parts, usage shows both credits, and `credits
 * restore` restores them from the audit log.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { ENTRIES, LIVE_ID, operator } from "./operator.mjs";
import { errorAddress } from "../../www/site/origin.js";

test("a transaction is credited up to its charge, and usage shows it", async (t) => {
  const { kv, command, json, words, fails, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  await reconcile();
  const add = (...more) => ["credits", "add", LIVE_ID, "--by", "Ada", ...more];
  const part = add("--reason", "Returned", "--amount", "0.50", "--quantity", "tree=1");
  const { problem } = await command(2, add("--reason", "Returned", "--quantity", "tree=1"));
  assert.match(problem, /^nothing was credited: enter an amount in addition to the quantities/);
  for (const [code, stated, at] of [
    [2, ["--quantity", "tree=1"], { field: "amount", code: "usage" }],
    [
      1,
      ["--amount", "0", "--quantity", "tree=9"],
      { field: "quantity", item: "tree", code: "not_allowed" },
    ],
  ]) {
    const ended = await command(code, add("--reason", "Returned", ...stated, "--yes", "--json"));
    const { message, ...error } = JSON.parse(ended.out).error;
    assert.deepEqual(error, { ...at, see: errorAddress(at.code) }, message);
  }
  await fails(
    add("--reason", "Returned", "--amount", "9", "--yes"),
    "nothing was credited: only 1.50 USD of the charge can still be credited",
  );
  const { problem: asked } = await command(1, part);
  assert.match(
    asked,
    /^Amount +0\.50 USD\nCharge +1\.50 USD\nQuantities +1 tree\nBooked in +\d{4}-\d\d\n/m,
  );
  assert.match(asked, /Credit this transaction\? This was not confirmed/);
  const once = ["--yes", "--operation-id", "credit-1"];
  const credit = await json(...part, ...once);
  assert.deepEqual(
    [credit.transaction, credit.amount, credit.quantities, credit.by],
    [LIVE_ID, "0.50", [{ offering: "tree", quantity: "1" }], "Ada"],
  );
  const { alreadyDone, ...again } = await json(...part, ...once);
  assert.ok(alreadyDone);
  assert.deepEqual(again, credit);
  await json(...add("--reason", "Returned", "--yes"));
  const { credits, left } = await json("credits", "list", LIVE_ID);
  assert.deepEqual(
    credits.map(({ amount }) => amount),
    ["0.50", "1.00"],
  );
  assert.deepEqual([left.amount, left.quantities], ["0.00", []]);
  assert.match(
    await words("credits", "list", LIVE_ID),
    /^0\.50 +USD +1 tree +\d{4}-\d\d +Returned/m,
  );
  const { sums } = await json("transactions", "usage", "--unit", "unit_dev_two", "--mode", "live");
  assert.deepEqual(
    sums.map(({ amount, credited, due }) => [amount, credited, due]),
    [["1.50", "1.50", "0.00"]],
  );
});

test("a requested credit is listed, and refused or confirmed", async (t) => {
  const { kv, json, words, fails, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  await reconcile();
  const by = ["--by", "Ada", "--yes"];
  const request = () =>
    json("credits", "request", LIVE_ID, "--amount", "0.50", "--reason", "Refunded", ...by);
  const made = await request();
  assert.deepEqual([made.state, made.amount, made.credit.reason], ["open", "0.50", "Refunded"]);
  await fails(
    ["credits", "request", LIVE_ID, "--reason", "Refunded", ...by],
    /already requested, and not decided yet/,
  );
  const refused = await json(
    "credits",
    "refuse",
    LIVE_ID,
    "--reason",
    "It was shipped",
    "--by",
    "Ada",
  );
  assert.deepEqual([refused.state, refused.answer], ["refused", "It was shipped"]);
  assert.match(await words("credits", "requests"), /^No requests\./);
  await fails(["credits", "confirm", LIVE_ID, ...by], /Ada decided this request at .*: refused/);
  await request();
  assert.match(await words("credits", "requests"), /0\.50 USD +Refunded .* Ada +open$/m);
  assert.equal((await json("credits", "confirm", LIVE_ID, ...by)).amount, "0.50");
  const { requests } = await json("credits", "requests", "--state", "all");
  assert.deepEqual(requests.map(({ state }) => state).sort(), ["credited", "refused"]);

  const unit = ["--unit", "unit_dev_two"];
  await json("units", "add", "unit_dev_two", ...by);
  const sums = ["--per-order", "20.00", "--per-month", "200.00"];
  const { limit } = await json("credits", "limit", ...unit, ...sums, "--by", "Ada");
  assert.deepEqual(limit, { currencyCode: "USD", perOrder: "20.00", perMonth: "200.00" });
  assert.match(await words("credits", "requests", ...unit), /up to 20\.00 USD per transaction/);
  assert.equal((await json("credits", "limit", ...unit, "--by", "Ada")).limit, null);
});
