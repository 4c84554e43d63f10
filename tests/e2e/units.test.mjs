/** `npm run units`, on local KV and on a deployed namespace. */
import assert from "node:assert/strict";
import test from "node:test";
import { placeInWords } from "../../scripts/lib/output.mjs";
import { PLACES } from "./places.mjs";
import { scratch, script } from "./script.mjs";

const PROFILE = {
  name: "Café “Nord” & Süd",
  logo: "https://nord.example/logo.svg",
  accent: "#8a4b2a",
  language: "de",
  link: "https://nord.example/",
};
const NORD = '{"name":"Nord","version":1}';
const optionsOf = (profile) =>
  Object.entries(profile).flatMap(([member, value]) => [`--${member}`, value]);

for (const [name, open] of Object.entries(PLACES)) {
  test(`on ${name}, a profile is set, shown, listed and removed, and each output names the place`, async (t) => {
    const { kv, place, ...at } = await open(t);
    const units = (...args) => script("units", [...args, ...at.args], at);
    const asked = async (...args) => {
      const { code, out, problem } = await units(...args, "--json");
      assert.equal(code, 0, problem);
      const { place: printed, ...answer } = JSON.parse(out);
      assert.deepEqual(printed, place);
      return answer;
    };
    const refused = async (message, ...args) => {
      const { code, problem } = await units(...args);
      assert.deepEqual([code, problem], [1, `stopped: ${message} (${placeInWords(place)})\n`]);
    };

    assert.deepEqual(await asked("set", "unit_1", ...optionsOf(PROFILE)), {
      unit: "unit_1",
      profile: PROFILE,
    });
    assert.deepEqual(JSON.parse(await kv.get("profile:unit_1")), { ...PROFILE, version: 1 });
    assert.deepEqual(await asked("show", "unit_1"), { unit: "unit_1", profile: PROFILE });
    const { out } = await units("show", "unit_1");
    assert.equal(out.split("\n")[0], placeInWords(place));
    assert.match(out, /^UNIT .*\nunit_1 +Café “Nord” & Süd +https:/m);

    assert.match(
      (await units("set", "unit_1", "--name", "Nord")).out,
      /^unit_1 +Nord *\n\nWithin about a minute/m,
    );
    assert.equal(await kv.get("profile:unit_1"), NORD);
    await refused(
      "`logo` and `link` are addresses: write `https://…`, at most 2,048 bytes",
      "set",
      "unit_1",
      "--name",
      "Nord",
      "--logo",
      "http://nord.example/",
    );
    assert.equal(await kv.get("profile:unit_1"), NORD);

    await kv.write([
      { key: "profile:unit_0", value: "{}" },
      { key: "secret", value: "{}" },
    ]);
    const problem =
      "`name` is out of bounds: write one line of 1 to 80 characters, none of which turns the direction of text";
    assert.deepEqual(await asked("list"), {
      units: [
        { unit: "unit_0", problem },
        { unit: "unit_1", profile: { name: "Nord" } },
      ],
    });
    assert.match((await units("list")).out, /^unit_0 +unreadable record: `name` is out of bounds/m);

    await refused("the unit `unit_2` has no profile", "remove", "unit_2");
    for (const unit of ["unit_0", "unit_1"])
      assert.deepEqual(await asked("remove", unit), { unit, removed: true });
    assert.deepEqual(await Array.fromAsync(kv.names()), ["secret"]);
    await refused(
      "the unit `unit_1` has no profile: its timelines show the name Impact Pledge",
      "show",
      "unit_1",
    );
    assert.match((await units("list")).out, /\n\nno profiles\n$/);
  });
}

test("what no page could show is refused, and nothing is written", async (t) => {
  const persistTo = scratch(t);
  for (const [args, message] of [
    [["u", "--name", " "], /^`name` is out of bounds/],
    [["u", "--name", "a".repeat(81)], /^`name` is out of bounds/],
    [["u", "--name", "n", "--accent", "brown"], /^`accent` is no colour: write it as `#2c6a4a`$/],
    [["u", "--name", "n", "--language", "xx"], /^`language` is none of da, de, en, /],
    [["u", "--name", "n", "--link", "javascript:alert(1)"], /^`logo` and `link` are addresses/],
    [["u,v", "--name", "n"], /^`u,v` is not an ID/],
  ]) {
    const { code, out } = await script("units", [
      "set",
      ...args,
      "--persist-to",
      persistTo,
      "--json",
    ]);
    assert.equal(code, 1);
    assert.match(JSON.parse(out).error.message, message);
  }
  assert.deepEqual(
    JSON.parse((await script("units", ["list", "--persist-to", persistTo, "--json"])).out).units,
    [],
  );
});

test("bad usage says what is wrong before anything is looked for, and ends with 2", async () => {
  for (const [args, problem] of [
    [["set", "unit_1"], "required option '--name <name>' not specified"],
    [["set", "--name", "n"], "missing required argument 'unit'"],
    [
      ["set", "u", "--name", "n", "--acent", "#fff"],
      "unknown option '--acent'\n(Did you mean --accent?)",
    ],
    [["lst"], "unknown command 'lst'\n(Did you mean list?)"],
    [["remove"], "missing required argument 'unit'"],
    [["list", "--env", "production"], "`--env` is of a deployed service: add `--remote`"],
  ]) {
    const { code, out, problem: printed } = await script("units", args);
    assert.deepEqual(
      [code, out, printed],
      [2, "", `${problem}\nSee \`npm run units -- --help\`.\n`],
      args.join(" "),
    );
  }
});

test("an option that npm took for itself is refused", async () => {
  const { code, problem } = await script("units", ["set", "u", "Nord"], {
    env: { npm_lifecycle_event: "units", npm_config_accent: "#8a4b2a" },
  });
  assert.equal(code, 2);
  assert.match(problem, /^npm took `--accent` for itself, and nothing was done/);
});
