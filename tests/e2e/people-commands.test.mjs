/**
 * Tests `npm run people`, which adds, lists and removes people of a unit or a team, and a backup that has them.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { operator } from "./operator.mjs";
import { scratch } from "./script.mjs";

test("a person is added, listed, kept by a rebuild of the ledger, and removed", async (t) => {
  const { json, words, fails, reconcile } = await operator(t);
  const add = ["people", "add", "Eva@Shop.example", "--unit", "shop", "--role", "manager"];
  await fails(add, /^Create the unit `shop`\? This was not confirmed/);
  const added = { unit: "shop", role: "manager", already: false };
  assert.deepEqual(await json(...add, "--yes", "--by", "Ada"), added);
  assert.deepEqual(await json(...add), { ...added, already: true });
  const viewer = [...add.slice(0, -1), "viewer"];
  await fails(viewer, /^nothing was changed: this person already has the role manager/);
  await json("people", "add", "ben@shop.example", "--team", "chain", "--role", "viewer", "--yes");
  const list = ["people", "list", "--unit", "shop"];
  await json("ledger", "rebuild", "--yes");
  await reconcile();
  const { people } = await json(...list);
  assert.deepEqual(
    people.map(({ address, role, by }) => [address, role, by]),
    [["eva@shop.example", "manager", "Ada"]],
  );
  assert.match(await words(...list), /^eva@shop\.example +Manager +\S+Z +Ada$/m);

  const remove = ["people", "remove", "eva@shop.example", "--unit", "shop"];
  await fails(remove, /^Remove this person\? This was not confirmed/);
  assert.deepEqual(await json(...remove, "--yes"), {});
  await fails(
    [...remove, "--yes"],
    "nothing was removed: this unit or team has no person with this address",
  );
  assert.equal(await words(...list), "No people yet.\n");
});

test("people are restored only with `--with-keys`, also without the records", async (t) => {
  const { json } = await operator(t);
  const eva = ["eva@shop.example", "--unit", "shop"];
  await json("people", "add", ...eva, "--role", "manager", "--yes");
  const file = join(scratch(t), "backup.jsonl");
  await json("transactions", "backup", file);
  await json("people", "remove", ...eva, "--yes");
  for (const [options, rows] of [
    [[], undefined],
    [["--only", "ledger", "--with-keys"], { written: 1, known: 0, refused: [] }],
    [["--with-keys"], { written: 0, known: 1, refused: [] }],
  ]) {
    const { ledger } = await json("transactions", "restore", file, ...options, "--yes");
    assert.deepEqual(ledger.rows.people, rows);
    const { people } = await json("people", "list", "--unit", "shop");
    assert.equal(people.length, rows === undefined ? 0 : 1);
  }
});
