/** `npm run keys` and `npm run catalogue`, on local KV and on a deployed namespace. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Kv } from "../../scripts/lib/kv.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { scratch, script, tools } from "./script.mjs";

const nameOf = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

/** Where records are, and how to look at them without the scripts. */
const PLACES = {
  "local KV": (t) => {
    const persistTo = scratch(t);
    const kv = new Kv(tools, { persistTo });
    return { args: ["--persist-to", persistTo], env: {}, names: () => kv.names(""), read: async (name) => (await kv.read([name]))[name], write: (key, value) => kv.write([{ key, value }]) };
  },
  "a deployed namespace": async (t) => {
    const { env, account: { records } } = await cloudflare(t);
    return { args: ["--remote"], env, names: () => [...records.keys()].sort(), read: (name) => records.get(name) ?? null, write: (name, value) => records.set(name, value) };
  },
};

for (const [name, open] of Object.entries(PLACES)) {
  test(`on ${name}, a key is made, listed and revoked`, async (t) => {
    const place = await open(t);
    const keys = (...args) => script("keys", [...args, ...place.args], place);

    const unit = await keys("create", "--mode", "live", "--unit", "unit_1", "--label", "Grüße", "--json");
    assert.equal(unit.code, 0, unit.problem);
    const { key, ...row } = JSON.parse(unit.out);
    assert.match(key, /^service_sk_live_[a-z2-7]{40}$/);
    assert.deepEqual(row, { id: nameOf(key).slice(4, 16), mode: "live", level: "unit", unitId: "unit_1", label: "Grüße" });
    assert.deepEqual(JSON.parse(await place.read(nameOf(key))), { mode: "live", level: "unit", unitId: "unit_1", label: "Grüße" });

    const team = await keys("create", "--mode", "test", "--level", "team", "--team", "t", "--unit", "a", "--unit", "b");
    assert.equal(team.code, 0, team.problem);
    const [teamKey] = team.out.split("\n");
    assert.match(teamKey, /^service_sk_test_[a-z2-7]{40}$/);
    assert.deepEqual(JSON.parse(await place.read(nameOf(teamKey))), { mode: "test", level: "team", teamId: "t", unitIds: ["a", "b"] });

    await place.write(`key:${"0".repeat(64)}`, "{}");
    await place.write("catalogue", "{}");
    const list = await keys("list");
    assert.equal(list.code, 0, list.problem);
    assert.match(list.out, new RegExp(`^${row.id}  live  unit   unit_1 +Grüße$`, "m"));
    assert.match(list.out, /^[0-9a-f]{12}  test  team   t +a b$/m);
    assert.match(list.out, /^0{12}  \? .*unreadable record: missing field `mode`$/m);
    assert.ok(![key, teamKey].some((secret) => list.out.includes(secret)));
    assert.equal(JSON.parse((await keys("list", "--json")).out).length, 3);

    const byId = await keys("revoke", row.id, "--json");
    assert.deepEqual(JSON.parse(byId.out), { id: row.id, revoked: true });
    const byKey = await script("keys", ["revoke", ...place.args], { ...place, input: `${teamKey}\n` });
    assert.equal(byKey.code, 0, byKey.problem);
    assert.deepEqual(await place.names(), ["catalogue", `key:${"0".repeat(64)}`]);
  });

  test(`on ${name}, an ID that is unknown or not one key's deletes nothing`, async (t) => {
    const place = await open(t);
    const twins = ["1", "2"].map((last) => `key:${"a".repeat(63)}${last}`);
    for (const twin of twins) await place.write(twin, "{}");
    for (const [input, problem] of [
      ["a".repeat(12), /^stopped: 2 keys have IDs that begin with `aaaaaaaaaaaa`/],
      ["b".repeat(12), /^stopped: no key has the ID `bbbbbbbbbbbb`/],
    ]) {
      const revoked = await script("keys", ["revoke", ...place.args], { ...place, input });
      assert.equal(revoked.code, 1);
      assert.match(revoked.problem, problem);
      assert.equal(revoked.out, "");
    }
    assert.deepEqual(await place.names(), twins);
  });

  test(`on ${name}, prices are set and shown`, async (t) => {
    const place = await open(t);
    const catalogue = (args, input) => script("catalogue", [...args, ...place.args], { ...place, input });
    assert.match((await catalogue(["show"])).out, /^no catalogue is set/);

    const file = join(scratch(t), "prices.json");
    writeFileSync(file, '{ "unitPrices": { "tree": "0.50" }, "currencyCode": "EUR" }\n');
    const set = await catalogue(["set", file]);
    assert.equal(set.code, 0, set.problem);
    assert.equal(await place.read("catalogue"), '{"currencyCode":"EUR","unitPrices":{"tree":"0.50"}}');
    assert.match((await catalogue(["show"])).out, /^OFFERING  EUR\ntree      0\.50$/m);

    const wrong = await catalogue(["set", "-"], '{"currencyCode":"EUR","unitPrices":{"tree":0.5}}');
    assert.equal(wrong.code, 1);
    assert.match(wrong.problem, /^stopped: the catalogue: .*write a plain decimal in quotes.* at line 1 column 46$/m);
    const csv = join(scratch(t), "prices.csv");
    writeFileSync(csv, "tree,0.50\n");
    const noJson = await catalogue(["set", csv]);
    assert.equal(noJson.code, 1);
    assert.equal(noJson.problem, `stopped: ${csv}: is not JSON: expected ident at line 1 column 3\n`);
    assert.deepEqual(JSON.parse((await catalogue(["show", "--json"])).out), { currencyCode: "EUR", unitPrices: { tree: "0.50" } });
  });
}

test("more keys than one page or one call are all listed", async (t) => {
  const { env, account: { records } } = await cloudflare(t);
  for (let unit = 0; unit < 230; unit += 1) records.set(nameOf(String(unit)), JSON.stringify({ mode: "test", level: "unit", unitId: `unit_${unit}` }));
  const list = await script("keys", ["list", "--remote", "--json"], { env });
  assert.equal(list.code, 0, list.problem);
  assert.equal(new Set(JSON.parse(list.out).map(({ unitId }) => unitId)).size, 230);
});

test("a service that was never deployed is named in one line", async (t) => {
  const { env } = await cloudflare(t, { deployed: false });
  const list = await script("keys", ["list", "--remote"], { env });
  assert.equal(list.code, 1);
  assert.match(list.problem, /^stopped: Workers KV can't be reached: .*This does not exist on your account/);
  assert.equal(list.problem.trim().split("\n").length, 1);
});

test("bad usage says what is wrong, shows the help and ends with 2", async () => {
  for (const [name, args, problem] of [
    ["keys", [], "Usage: npm run keys -- [options] [command]"],
    ["keys", ["make"], "unknown command 'make'"],
    ["keys", ["toString"], "unknown command 'toString'"],
    ["keys", ["create"], "required option '--mode <mode>' not specified"],
    ["keys", ["create", "--mode", "prod"], "option '--mode <mode>' argument 'prod' is invalid. Allowed choices are test, live."],
    ["keys", ["create", "--mode", "test"], "required option '--unit <unit>' not specified"],
    ["keys", ["create", "--mode", "test", "--unit", "a", "--unit", "b"], "several units need `--team`: a unit-level key acts as one unit"],
    ["keys", ["create", "--mode", "test", "--unit", "a", "--level", "team"], "`--team` is missing: the ID of the team"],
    ["keys", ["create", "--mode", "test", "--unit", "a", "--team", "t", "--level", "unit"], "a unit-level key has no `--team`"],
    ["keys", ["create", "--mode", "test", "--unit", "a", "--level", "org"], "option '--level <level>' argument 'org' is invalid. Allowed choices are unit, team."],
    ["keys", ["create", "--mode", "test", "--unit", "a", "b"], "too many arguments for 'create'. Expected 0 arguments but got 1: b."],
    ["keys", ["list", "--mode", "test"], "unknown option '--mode'"],
    ["keys", ["list", "--remot"], "unknown option '--remot'"],
    ["keys", ["list", "--remote", "--persist-to", "x"], "option '--persist-to <dir>' cannot be used with option '--remote'"],
    ["keys", ["revoke"], "name the key: its ID behind `revoke`, or the key itself on standard input"],
    ["catalogue", [], "Usage: npm run catalogue -- [options] [command]"],
    ["catalogue", ["set"], "missing required argument 'file'"],
    ["catalogue", ["show", "x"], "too many arguments for 'show'. Expected 0 arguments but got 1: x."],
    ["start", ["x"], "too many arguments. Expected 0 arguments but got 1: x."],
  ]) {
    const { code, out, problem: printed } = await script(name, args);
    assert.equal(code, 2, `${name} ${args.join(" ")}`);
    assert.equal(printed.split("\n")[0], problem);
    assert.match(printed, /npm (run|start)/);
    assert.equal(out, "");
  }
});

test("help is no failure", async () => {
  for (const name of ["keys", "catalogue", "start"]) {
    const { code, out, problem } = await script(name, ["--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`npm (run )?${name}`));
    assert.equal(problem, "");
  }
});
