/** Tests the command `npm run prices` with the price list of each mode. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { operator } from "./operator.mjs";
import { scratch } from "./script.mjs";

test("each mode has its own prices, and an invalid file changes none", async (t) => {
  const { changed, kv, json, words, fails, command } = await operator(t);
  const EUR = { currencyCode: "EUR", unitPrices: { tree: "0.50" } };
  const GBP = { currencyCode: "GBP", unitPrices: {} };
  const stored = async () => {
    const { catalogues } = await json("prices", "show");
    return [catalogues.test, catalogues.live].map(({ prices, ...catalogue }) => catalogue);
  };
  assert.deepEqual(await json("prices", "show"), {
    catalogues: { test: null, live: null },
    units: { test: [], live: [] },
  });
  assert.match(await words("prices", "show"), /^prices for live keys\nno price list is set/m);
  await command(0, ["prices", "set", "-", "--mode", "test"], JSON.stringify(GBP));
  const file = join(scratch(t), "prices.json");
  writeFileSync(file, JSON.stringify(EUR));
  assert.match(
    await words("prices", "set", file, "--mode", "live"),
    /^prices for live keys, in EUR\nOFFERING {2}BEFORE {2}AFTER\ntree {6}none {4}0\.50\n1 added, 0 unchanged$/m,
  );
  const { prices, ...record } = await changed("catalogue:live");
  assert.deepEqual(record, { ...EUR, version: 1 });
  assert.deepEqual(JSON.parse(await kv.get(`prices:live:${prices}`)), { ...record, prices });
  assert.deepEqual(await stored(), [GBP, EUR]);
  const live = await json("prices", "show", "--mode", "live");
  assert.deepEqual(live, { catalogues: { live: { ...EUR, prices } }, units: { live: [] } });

  await fails(
    ["prices", "set", "-"],
    /^the price list: .*write a plain decimal in quotes.* at line 1 column 46$/,
    '{"currencyCode":"EUR","unitPrices":{"tree":0.5}}',
  );
  await fails(["prices", "set", `${file}.csv`], /there is no file .*prices\.json\.csv/);
  writeFileSync(file, "tree,0.50\n");
  await fails(["prices", "set", file], `${file}: is not JSON: expected ident at line 1 column 3`);
  assert.deepEqual(await stored(), [GBP, EUR]);
});

test("removed prices and a new currency need confirmation, and each change is kept with the person who made it", async (t) => {
  const { json, words, command } = await operator(t);
  const file = join(scratch(t), "prices.json");
  const set = (currencyCode, unitPrices, ...args) => {
    writeFileSync(file, JSON.stringify({ currencyCode, unitPrices }));
    return ["prices", "set", file, ...args];
  };
  await json(...set("USD", { tree: "0.50", "plastic-kg": "1.25" }, "--by", "Ada"));
  const asked = async (args) => (await command(1, args)).problem;
  const lost = await asked(set("USD", { tre: "50" }, "--mode", "live"));
  assert.match(lost, /^tree {8}0\.50 {4}none$/m);
  assert.match(
    lost,
    /^live keys: offerings that lose their price: 2\.\n\nstopped: Set these prices\? This was not confirmed, so no price was changed\. /m,
  );
  const moved = await asked(set("EUR", { tree: "0.50", "plastic-kg": "1.25" }));
  assert.match(moved, /^test keys: the currency changes from USD to EUR; live keys: the c/m);

  const high = await asked(["prices", "change", "tree", "50000", "--mode", "live"]);
  assert.match(
    high,
    /: the price of tree changes from 0\.50 to 50000 \(× 100000\)\.\n\nstopped: Set these prices\? This was not confirmed/,
  );
  const both = await asked(["prices", "change", "tree", "0.55"]);
  assert.match(
    both,
    /^the prices of test and of live keys change: `--mode` selects one of them\.$/m,
  );

  const price = ["prices", "change", "tree", "0.55", "--mode", "live", "--by", "Bo"];
  assert.match(await words(...price), /^tree {6}0\.50 {4}0\.55\n1 changed, 1 unchanged$/m);
  await json(...set("EUR", { tree: "0.60" }, "--mode", "test", "--by", "Cy", "--yes"));
  const history = (await words("prices", "history")).replaceAll(/^\S+Z {2}/gm, "");
  assert.equal(
    history,
    `SET ON                BY   MODE  OFFERING    BEFORE  AFTER
Ada  test  plastic-kg  none    1.25
Ada  test  tree        none    0.50
Ada  live  plastic-kg  none    1.25
Ada  live  tree        none    0.50
Bo   live  tree        0.50    0.55
Cy   test  Currency    USD     EUR
Cy   test  plastic-kg  1.25    none
Cy   test  tree        0.50    0.60
`,
  );
  const { history: live } = await json("prices", "history", "--mode", "live");
  const { catalogues } = await json("prices", "show");
  assert.deepEqual([live.at(-1).time, live.length], [catalogues.live.prices, 2]);
});

test("a unit has a price list of its own until it is removed", async (t) => {
  const { changed, kv, json, words, fails, command } = await operator(t);
  const USD = { currencyCode: "USD", unitPrices: { tree: "0.50" } };
  const EUR = { currencyCode: "EUR", unitPrices: { tree: "0.45" } };
  const live = ["--mode", "live"];
  await command(0, ["prices", "set", "-"], JSON.stringify(USD));
  await json("units", "add", "shop-1");
  const set = ["prices", "set", "-", "--unit", "shop-1", ...live];
  const { problem } = await command(1, set, JSON.stringify(EUR));
  assert.match(
    problem,
    /^live keys of the unit `shop-1`: the currency changes from USD to EUR\.\n\nstopped: Set these prices\? /m,
  );
  await command(0, [...set, "--yes"], JSON.stringify(EUR));
  const { prices, ...record } = await changed("catalogue:live:shop-1");
  assert.deepEqual(record, { ...EUR, version: 1 });
  assert.ok(await kv.get(`prices:unit:live:shop-1:${prices}`));
  assert.deepEqual((await json("prices", "show", ...live)).units, { live: ["shop-1"] });
  const own = await json("prices", "show", "--unit", "shop-1");
  assert.deepEqual(own, { unit: "shop-1", catalogues: { test: null, live: { ...EUR, prices } } });
  const change = ["prices", "change", "tree", "0.40", "--unit", "shop-1", ...live];
  assert.match(await words(...change), /^prices for live keys of the unit `shop-1`, in EUR$/m);
  const mode = await json("prices", "show", ...live);
  assert.equal(mode.catalogues.live.unitPrices.tree, "0.50");

  const removed = await json("prices", "remove", "shop-1", "--yes");
  assert.deepEqual(Object.keys(removed.catalogues), ["live"]);
  assert.equal(JSON.parse((await kv.get("catalogue:live:shop-1")) ?? "").removed, true);
  await fails(["prices", "remove", "shop-1"], "the unit `shop-1` has no price list of its own");
  const { history } = await json("prices", "history", "--unit", "shop-1");
  assert.deepEqual(
    history.map(({ unit, removed = false }) => [unit, removed]),
    [
      ["shop-1", false],
      ["shop-1", false],
      ["shop-1", true],
    ],
  );
});
