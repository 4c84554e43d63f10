/**
 * Tests `npm run people`, which adds, lists and removes people of a unit or a team. The ledger decides who
 * may sign in. KV holds a backup of the people.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { operator } from "./operator.mjs";

test("a person is added, listed, kept by a rebuild of the ledger, and removed", async (t) => {
  const { json, words, fails, names, reconcile } = await operator(t);
  const add = ["people", "add", "Eva@Shop.example", "--unit", "shop", "--role", "manager"];
  await fails(add, /^The unit `shop` is not registered/);
  const added = { unit: "shop", role: "manager", already: false };
  assert.deepEqual(await json(...add, "--yes", "--by", "Ada"), added);
  assert.deepEqual(await json(...add), { ...added, already: true });
  const viewer = [...add.slice(0, -1), "viewer"];
  await fails(viewer, /^nothing was changed: this person already has the role manager/);
  await json("people", "add", "ben@shop.example", "--team", "chain", "--role", "viewer", "--yes");
  const records = (await names()).filter((name) => name.startsWith("person:"));
  assert.match(records.join(" "), /^person:team:chain:[0-9a-f]{32} person:unit:shop:[0-9a-f]{32}$/);

  const list = ["people", "list", "--unit", "shop"];
  await json("ledger", "rebuild", "--yes");
  await reconcile();
  const { people } = await json(...list);
  assert.deepEqual(
    people.map(({ address, role, by }) => [address, role, by]),
    [["eva@shop.example", "manager", "Ada"]],
  );
  assert.match(await words(...list), /^eva@shop\.example +manager +\S+Z +Ada$/m);

  const remove = ["people", "remove", "eva@shop.example", "--unit", "shop"];
  assert.deepEqual(await json(...remove), {});
  await fails(remove, "nothing was removed: this unit or team has no person with this address");
  assert.equal(await words(...list), "no people\n");
  assert.deepEqual(
    (await names()).filter((name) => name.startsWith("person:unit:")),
    [],
  );
});
