/** Tests `audit list`: it prints the audit log as sentences, and filters it. */
import assert from "node:assert/strict";
import test from "node:test";
import { operator } from "./operator.mjs";

test("changes are listed as sentences, and found by person, command and unit", async (t) => {
  const { json, words } = await operator(t);
  await json("units", "add", "unit_1", "--by", "Ada");
  await json("units", "set", "unit_1", "--name", "Nord", "--by", "Ada");
  await json("units", "set", "unit_1", "--name", "Süd", "--by", "Bo");
  await json("units", "add", "unit_2", "--by", "Bo", "--yes");
  const all = await words("audit", "list");
  assert.match(all, /^TIME +BY +CHANGE\n/);
  assert.match(all, / Bo +changed the profile of the unit unit_1 \(name: Süd, before: Nord\)$/m);
  assert.match(all, / Ada +created the unit unit_1$/m);
  const found = async (...filter) => {
    const { changes } = await json("audit", "list", ...filter);
    return changes.map(({ by, command, on }) => `${by} ${command} ${on}`);
  };
  const [setByBo, setByAda] = ["Bo units set unit_1", "Ada units set unit_1"];
  assert.deepEqual(await found("--shop", "unit_2"), ["Bo units add unit_2"]);
  assert.deepEqual(await found("--command", "units set"), [setByBo, setByAda]);
  assert.deepEqual(await found("--command", "units set", "--who", "ada"), [setByAda]);
  assert.deepEqual(await found("--command", "unit"), []);
  assert.deepEqual(await found("--until", "2020-01-01"), []);
  assert.equal((await found("--since", "2020-01-01")).length, 4);
});
