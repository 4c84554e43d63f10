/** `npm run units`, on local KV and on a deployed namespace. */
import assert from "node:assert/strict";
import test from "node:test";
import { Kv } from "../../scripts/lib/kv.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { scratch, script, tools } from "./script.mjs";

/** Where records are, and how to look at them without the script. */
const PLACES = {
  "local KV": (t) => {
    const persistTo = scratch(t);
    const kv = new Kv(tools, { persistTo });
    return { args: ["--persist-to", persistTo], env: {}, names: () => kv.names(""), read: async (name) => (await kv.read([name]))[name] };
  },
  "a deployed namespace": async (t) => {
    const { env, account: { records } } = await cloudflare(t);
    return { args: ["--remote"], env, names: () => [...records.keys()].sort(), read: (name) => records.get(name) ?? null };
  },
};

for (const [name, open] of Object.entries(PLACES)) {
  test(`on ${name}, a profile is set, shown, listed and removed`, async (t) => {
    const place = await open(t);
    const units = (...args) => script("units", [...args, ...place.args], place);
    const profile = { name: "Café “Nord” & Süd", logo: "https://nord.example/logo.svg", accent: "#8a4b2a", language: "de", link: "https://nord.example/" };

    const set = await units("set", "unit_1", ...Object.entries(profile).flatMap(([member, value]) => [`--${member}`, value]), "--json");
    assert.equal(set.code, 0, set.problem);
    assert.deepEqual(JSON.parse(set.out), { unit: "unit_1", profile });
    assert.deepEqual(JSON.parse(await place.read("profile:unit_1")), profile);
    assert.match((await units("show", "unit_1")).out, /^UNIT .*\nunit_1 +Café “Nord” & Süd +https:/);

    const replaced = await units("set", "unit_1", "--name", "Nord");
    assert.match(replaced.out, /^unit_1 +Nord *$/m);
    assert.equal(await place.read("profile:unit_1"), '{"name":"Nord"}');
    assert.deepEqual(JSON.parse((await units("list", "--json")).out), [{ unit: "unit_1", profile: { name: "Nord" } }]);

    const wrong = await units("set", "unit_1", "--name", "Nord", "--logo", "http://nord.example/");
    assert.equal(wrong.code, 1);
    assert.match(wrong.problem, /^stopped: `logo` and `link` are addresses: write `https:/);
    assert.equal(await place.read("profile:unit_1"), '{"name":"Nord"}');

    assert.equal((await units("remove", "unit_2")).problem, "stopped: the unit `unit_2` has no profile\n");
    assert.deepEqual(JSON.parse((await units("remove", "unit_1", "--json")).out), { unit: "unit_1", removed: true });
    assert.deepEqual(await place.names(), []);
    assert.match((await units("show", "unit_1")).problem, /^stopped: the unit `unit_1` has no profile/);
    assert.equal((await units("list")).out, "no profiles\n");
  });
}

test("a profile without a name is refused before anything is looked for", async () => {
  const { code, problem } = await script("units", ["set", "unit_1"]);
  assert.equal(code, 2);
  assert.match(problem, /^required option '--name <name>' not specified/);
});
