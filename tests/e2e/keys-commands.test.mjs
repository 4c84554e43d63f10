/**
 * Tests `npm run keys`, which creates, lists, replaces and revokes API keys. The rules of keys are tested
 * in tests/native/operator.
 */
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import test from "node:test";
import { UserError, placeInWords } from "../../scripts/lib/output.mjs";
import { nameOf, operator, seconds } from "./operator.mjs";
import { contents } from "./script.mjs";
import { errorAddress } from "../../www/site/origin.js";

test("keys are created, listed, replaced and revoked, and no output shows the namespace's secret", async (t) => {
  const { kv, json, words, command, fails, names, printed } = await operator(t);
  const unit = ["--mode", "live", "--unit", "unit_1", "--label", "Grüße", "--by", "Ada"];
  await fails(
    ["keys", "create", ...unit],
    "Create the unit `unit_1`? This was not confirmed, so no key was created. To confirm without a prompt, pass `--yes`",
  );
  assert.deepEqual(await names(), []);
  const { key, ...row } = await json("keys", "create", ...unit, "--yes");
  const scope = { mode: "live", unit: "unit_1", label: "Grüße" };
  const note = { ...scope, created: row.created, by: "Ada" };
  assert.match(key, /^service_sk_live_[a-z2-7]{40}$/);
  assert.deepEqual(row, { id: nameOf(key).slice(4, 16), name: nameOf(key), ...note });
  const { secret, ...record } = JSON.parse(await kv.get(row.name));
  assert.deepEqual(record, { ...scope, version: 1 });
  await fails(
    ["keys", "create", "--mode", "live", "--unit", "uint_1"],
    /^Create the unit `uint_1`\? /,
  );

  const team = ["--mode", "test", "--team", "t", "--label", "\u009b31m", "--yes"]; // a terminal would turn red
  await fails(["keys", "create", ...team], /^the label is out of bounds/);
  const made = await words("keys", "create", ...team.toSpliced(4, 2));
  const [, teamKey] = /^Key +(service_sk_test_[a-z2-7]{40})$/m.exec(made);
  assert.equal(JSON.parse(await kv.get(nameOf(teamKey))).team, "t");

  const damaged = `key:${"0".repeat(64)}`;
  await kv.write([{ key: damaged, value: "{}" }]);
  const list = await words("keys", "list");
  assert.match(
    list,
    new RegExp(`^${row.id}  live  unit unit_1 +Grüße  ${seconds(row.created)}  Ada$`, "m"),
  );
  assert.match(
    list,
    new RegExp(`^[0-9a-f]{12}  test  team t +\\S+Z  ${userInfo().username}$`, "m"),
  );
  assert.match(list, /^0{12} +unreadable metadata: invalid type: null/m);
  assert.ok(!list.includes(key));
  const listed = async (...args) =>
    (await json("keys", "list", ...args)).keys.map(({ name }) => name);
  assert.deepEqual(await listed("--mode", "test"), [nameOf(teamKey)]);
  assert.deepEqual(await listed("--team", "t"), [nameOf(teamKey)]);
  assert.deepEqual(await listed("--unit", "unit_1"), [row.name]);
  assert.deepEqual(await listed(), [damaged, nameOf(teamKey), row.name]); // by unit or team
  assert.deepEqual(await listed("--sort", "label"), [damaged, nameOf(teamKey), row.name]);
  assert.deepEqual(await listed("--sort", "id"), [damaged, nameOf(teamKey), row.name].sort());

  const before = Date.now();
  const rotate = ["keys", "rotate", row.id, "--keep", "24h", "--by", "Ada"];
  const { replaces, ...second } = await json(...rotate);
  assert.deepEqual(second, {
    ...row,
    key: second.key,
    id: nameOf(second.key).slice(4, 16),
    name: nameOf(second.key),
    created: second.created,
    predecessor: row.id,
  });
  const [{ expiration }] = await Array.fromAsync(kv.list(row.name));
  assert.ok(Math.abs(expiration * 1000 - before - 86_400_000) < 60_000, `${expiration}`);
  assert.ok(Math.abs(Date.parse(replaces.ends) - expiration * 1000) < 60_000, replaces.ends);
  const { keys } = await json("keys", "list");
  const ends = Object.fromEntries(keys.map(({ id, ends }) => [id, ends]));
  assert.deepEqual([Date.parse(ends[row.id]) / 1000, ends[second.id]], [expiration, undefined]);
  assert.match(
    await words("keys", "list"),
    new RegExp(`${row.id} .* replaced by ${second.id}$`, "m"),
  );
  await fails(
    rotate,
    "Create another key? This was not confirmed, so nothing was done. To confirm without a prompt, pass `--yes`",
  );
  const third = await json("keys", "rotate", second.id, "--keep", "0");
  assert.ok(!(await names()).includes(second.name));

  const revoke = ["keys", "revoke", third.id];
  const question = `Revoke the key ${third.id}?`;
  await fails(
    revoke,
    `${question} This was not confirmed, so nothing was revoked. To confirm without a prompt, pass \`--yes\``,
  );
  const atTerminal = (answer) => command(answer === "yes" ? 0 : 1, revoke, answer, { isTTY: true });
  for (const answer of ["", "y", "no"])
    assert.match((await atTerminal(answer)).problem, /Type `yes`: stopped: nothing was revoked/);
  assert.ok((await names()).includes(third.name));
  const { problem } = await atTerminal("yes");
  for (const fact of ["live", "unit unit_1", "Grüße", placeInWords(kv.place)])
    assert.ok(problem.includes(`  ${fact}\n`), problem);
  assert.ok(problem.endsWith(`\n\n${question} Type \`yes\`: `), problem);
  await command(0, ["keys", "revoke", "--yes"], `${teamKey}\n`); // the key itself, on standard input
  await fails(
    ["keys", "revoke", nameOf(teamKey), "--yes"],
    "nothing was revoked: there is no such key in this environment",
  );
  const rest = await json("keys", "revoke", row.name, "--yes");
  assert.deepEqual(rest, { id: row.id, name: row.name, revoked: true });
  assert.deepEqual(await names(), [damaged, "secret", "team:t", "unit:unit_1"]);
  assert.ok(!printed.join("").includes(secret));
});

test("a change is recorded with the person who made it, and a change that cannot be recorded is not made", async (t) => {
  const { kv, json, fails, command } = await operator(t);
  const changes = async () => (await json("audit", "list")).changes.reverse();
  const { id } = await json(
    "keys",
    "create",
    "--mode",
    "test",
    "--unit",
    "u",
    "--by",
    "Ada",
    "--yes",
  );
  await json("units", "set", "u", "--name", "N");
  assert.deepEqual(
    (await changes()).map(({ by, command, on }) => [by, command, on]),
    [
      ["Ada", "keys create", [id, "u"]],
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

test("an ID that does not name exactly one key deletes nothing, and with `--json` a failure is JSON", async (t) => {
  const { kv, command, jsonOf, fails, names } = await operator(t);
  const twins = ["1", "2"].map((last) => `key:${"a".repeat(63)}${last}`);
  await kv.write(twins.map((key) => ({ key, value: "{}" })));
  await fails(["keys", "revoke"], /^2 keys have IDs that begin with `a{12}`/, "a".repeat(12));
  await fails(["keys", "revoke"], /^no key in the list has the ID `b{12}`/, "b".repeat(12));
  const unknown = ["keys", "rotate", "f".repeat(64), "--keep", "0", "--json"];
  const message = "there is no key ffffffffffff: nothing was done";
  const error = { field: "id", code: "not_found", message, see: errorAddress("not_found") };
  assert.deepEqual(jsonOf(await command(1, unknown)), { error });
  assert.deepEqual(await names(), twins);
});

test("if the old key's expiry can't be written, the new key is shown nevertheless", async (t) => {
  const { kv, json, command, jsonOf, wordsOf, names } = await operator(t);
  const { id } = await json("keys", "create", "--mode", "live", "--unit", "u", "--yes");
  const { write } = kv;
  kv.write = async (entries) => {
    if ((await Array.fromAsync(entries)).some(({ key }) => key.slice(4, 16) === id))
      throw new UserError("status 403");
    await write.call(kv, entries);
  };
  const rotate = ["keys", "rotate", id, "--keep", "1h"];
  const { key, error } = jsonOf(await command(1, [...rotate, "--json"]));
  const works = `the old key ${id} still works, and so does the new key ${nameOf(key).slice(4, 16)}`;
  assert.ok(error.message.startsWith(works), error.message);
  const [, shown] = /^Key +(\S+)$/m.exec(wordsOf(await command(1, [...rotate, "--yes"])));
  for (const each of [key, shown]) assert.ok((await names()).includes(nameOf(each)));
});
