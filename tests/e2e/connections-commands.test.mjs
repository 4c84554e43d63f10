/**
 * Tests `npm run connections`, which connects shop systems, shows what they sent, and what an order would pledge.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { operator } from "./operator.mjs";
import { scratch } from "./script.mjs";

const RULES = { rules: [{ offeringId: "tree", basis: { order: { amount: "1" } } }] };
const ORDER = {
  id: 1053,
  number: "1053",
  status: "processing",
  currency: "EUR",
  total: "39.90",
  date_paid_gmt: "2026-11-28T07:00:00",
  billing: { email: "ada@example.org" },
  line_items: [],
};

test("a shop is connected, its rules are changed, and it is ended", async (t) => {
  const { json, words, fails } = await operator(t);
  const folder = scratch(t);
  const file = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const secret = file("secret.txt", "the secret of the shop\n");
  const settings = file("rules.json", JSON.stringify(RULES));
  const order = file("order.json", JSON.stringify(ORDER));

  const preview = ["connections", "preview", order, "--system", "woocommerce"];
  const { pledge, reason } = await json(...preview, "--settings", settings);
  assert.deepEqual(
    [pledge.reference, pledge.pledges[0].impact, reason],
    ["1053", { amount: 1, offeringId: "tree" }, null],
  );
  const unpaid = file(
    "unpaid.json",
    JSON.stringify({ ...ORDER, status: "pending", date_paid_gmt: null }),
  );
  preview[2] = unpaid;
  assert.match(
    await words(...preview, "--settings", settings),
    /^Nothing would be pledged: .*not paid/,
  );

  const add = ["connections", "add", "--unit", "shop", "--mode", "live", "--system", "woocommerce"];
  add.push("--store", "shop.example", "--secret", secret, "--settings", settings);
  await fails(add, /^Create the unit `shop`\? This was not confirmed/);
  const added = await json(...add, "--yes", "--by", "Ada");
  assert.match(added.path, /^\/orders\/[a-z2-7]{26}$/);
  assert.deepEqual(
    [added.unit, added.mode, added.system, added.store],
    ["shop", "live", "woocommerce", "shop.example"],
  );
  const { keys } = await json("keys", "list", "--unit", "shop");
  assert.deepEqual(
    keys.map(({ id, label }) => [id, label]),
    [[added.key, "orders of WooCommerce shop.example"]],
  );

  const { connection } = added;
  const wrong = file("wrong.json", '{"rules":[{"offeringId":"tree"}]}');
  const set = ["connections", "set", connection];
  await fails([...set, "--settings", wrong], /^nothing was changed: `rules\/0\/basis` is required/);
  await fails(set, "nothing was changed: say what to change");
  const another = file("another.txt", "another secret of the shop");
  assert.equal((await json(...set, "--secret", another)).secrets, 2);
  assert.equal((await json(...set, "--drop-old")).secrets, 1);

  const fetch = ["connections", "fetch", connection, "--since"];
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await fails([...fetch, yesterday], /^nothing was changed: the connection has no token/);
  const token = file("token.txt", "ck_of_the_shop:cs_of_the_shop\n");
  const half = file("half.txt", "ck_of_the_shop");
  await fails([...set, "--token", half], /^nothing was changed: write the consumer key and/);
  await fails([...set, "--token", "-", "--secret", "-"], /only one of the files can be `-`/);
  await json(...set, "--token", token);
  await fails([...fetch, "2026-01-01"], /^nothing was changed: choose a time within/);
  await json(...fetch, yesterday);

  const list = await json("connections", "list", "--unit", "shop");
  assert.deepEqual(
    list.connections.map((it) => [it.connection, it.system, it.store, it.fetches]),
    [[connection, "woocommerce", "shop.example", true]],
  );
  assert.doesNotMatch(JSON.stringify(list), /secret of the shop|c[ks]_of_the_shop/);
  assert.deepEqual(await json("connections", "deliveries", connection), { deliveries: [] });
  await fails(["connections", "retry", connection, "none"], /^there is no delivery with this ID/);

  const end = ["connections", "end", connection];
  await fails(end, /^End this connection\? This was not confirmed/);
  await json(...end, "--yes");
  assert.equal(await words("connections", "list"), "No shop system is connected yet.\n");
  assert.deepEqual((await json("keys", "list", "--unit", "shop")).keys, []);
});

test("connections are restored with keys, and their secrets stay sealed in a backup", async (t) => {
  const { json } = await operator(t);
  const folder = scratch(t);
  writeFileSync(join(folder, "secret"), "the secret of the shop");
  writeFileSync(join(folder, "rules.json"), JSON.stringify(RULES));
  const add = ["connections", "add", "--unit", "shop", "--mode", "live", "--system", "shopify"];
  add.push("--store", "a.example", "--secret", join(folder, "secret"));
  const { connection } = await json(...add, "--settings", join(folder, "rules.json"), "--yes");
  const file = join(folder, "backup.jsonl");
  await json("transactions", "backup", file);
  assert.ok(!readFileSync(file, "utf8").includes("the secret of the shop"));
  const other = await operator(t);
  await other.json("transactions", "restore", file, "--with-keys", "--yes");
  const { connections } = await other.json("connections", "list");
  assert.deepEqual(
    connections.map((it) => it.connection),
    [connection],
  );
});
