/** `npm run units` and `npm run teams`: units, their profiles, and teams of units. */
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import test from "node:test";
import { operate } from "../../scripts/lib/operations.mjs";
import { portOf } from "../../scripts/lib/operator.mjs";
import { operator } from "./operator.mjs";
import { tools } from "./script.mjs";

test("a unit's profile is set, shown, listed and removed", async (t) => {
  const { changed, kv, json, words, fails, names } = await operator(t);
  const profile = {
    name: "Café “Nord” & Süd",
    logo: "https://nord.example/logo.svg",
    accent: "#8a4b2a",
    language: "de",
    link: "https://nord.example/",
  };
  const options = Object.entries(profile).flatMap(([name, value]) => [`--${name}`, value]);
  const row = { unit: "unit_1", profile };
  await fails(["units", "set", "unit_1", "--name", "N"], /^Create the unit `unit_1`\? /);
  assert.deepEqual(await json("units", "set", "unit_1", ...options, "--yes"), row);
  assert.deepEqual(await changed("profile:unit_1"), { ...profile, version: 1 });
  assert.deepEqual(await json("units", "show", "unit_1"), row);
  assert.match(await words("units", "show", "unit_1"), /^unit_1 +Café “Nord” & Süd +https:/m);
  await words("units", "set", "unit_1", "--name", "Nord");
  const named = { ...profile, name: "Nord" };
  assert.deepEqual(await changed("profile:unit_1"), { ...named, version: 1 });
  const mail = ["--mail", "on", "--reply-to", "hello@nord.example", "--time-zone", "Asia/Kolkata"];
  const switchedOn = await words("units", "set", "unit_1", ...mail);
  assert.match(
    switchedOn,
    /^unit_1 .* on +hello@nord\.example +Asia\/Kolkata\n.*see docs\/emails\.md/ms,
  );
  const dated = { replyTo: "hello@nord.example", timeZone: "Asia/Kolkata" };
  const mailed = { ...named, mail: true, ...dated };
  assert.deepEqual(await changed("profile:unit_1"), { ...mailed, version: 1 });
  assert.match(await words("units", "set", "unit_1", "--mail", "off"), /^unit_1 .* off +hello@/m);
  const { accent, language, ...rest } = named;
  const unset = ["units", "unset", "unit_1", "accent", "language", "reply-to", "time-zone"];
  assert.deepEqual(await json(...unset), { unit: "unit_1", profile: rest });
  await kv.write([{ key: "profile:unit_0", value: "{}" }]);
  assert.deepEqual(await json("units", "add", "unit_2", "--by", "Ada", "--yes"), {
    units: ["unit_2"],
  });
  const { units } = await json("units", "list");
  assert.deepEqual(
    units.map(({ unit, profile, by }) => [unit, profile, by]),
    [
      ["unit_0", undefined, undefined],
      ["unit_1", rest, userInfo().username],
      ["unit_2", undefined, "Ada"],
    ],
  );
  assert.match(
    await words("units", "list"),
    /^unit_0 +Unreadable profile: `name` must be one line/m,
  );

  const wrong = ["units", "set", "unit_1", "--name", "Nord", "--link", "http://nord.example/"];
  await fails(
    wrong,
    "`logo` and `link` must start with `https://`, contain no user name, and have at most 2,048 bytes",
  );
  await fails(
    ["units", "set", "unit_1", "--reply-to", "Nord <hello@nord.example>"],
    "`reply-to` must be an e-mail address, such as `hello@shop.example`",
  );
  await fails(
    ["units", "set", "unit_1", "--time-zone", "Mars/Olympus"],
    "`time-zone` must be a time zone of the IANA database, such as `Europe/Berlin`",
  );
  await fails(["units", "unset", "unit_3", "link"], "the unit `unit_3` has no profile");
  await fails(
    ["units", "remove", "unit_3"],
    "the unit `unit_3` is not registered, and has no profile and no price list",
  );
  for (const unit of ["unit_0", "unit_1", "unit_2"])
    assert.deepEqual(await json("units", "remove", unit), { unit, removed: true });
  assert.deepEqual(await names(), []);
  assert.equal(await words("units", "list"), "There are no units yet.\n");
  await fails(
    ["units", "show", "unit_1"],
    "the unit `unit_1` has no profile: its timelines show the name Impact Pledge",
  );
});

test("of two changes of a profile at the same moment one is made, and the other error names who made it", async (t) => {
  const { kv, changed } = await operator(t);
  const port = portOf(kv);
  const set = (by) => operate(tools, port, "units", "set", { by, unit: "unit_1", name: by });
  const outcomes = await Promise.allSettled([set("Ada"), set("Bo")]);
  const { name } = await changed("profile:unit_1");
  const [lost, ...others] = outcomes.filter(({ status }) => status === "rejected");
  assert.deepEqual(others, []);
  const words = `^your change was not saved: ${name} changed the profile of the unit \`unit_1\` at 2`;
  assert.match(lost.reason.message, new RegExp(words));
});

test("a team of 200 units gets one more without another key", async (t) => {
  const { kv, json, words, fails } = await operator(t);
  const ids = Array.from({ length: 200 }, (_, number) => `shop-${1_000 + number}`);
  assert.equal(await words("teams", "list"), "There are no teams yet.\n");
  await json("teams", "add", "market", ...ids, "--yes");
  const { name } = await json("keys", "create", "--mode", "live", "--team", "market");
  const key = await kv.get(name);
  await fails(
    ["teams", "add", "market", "shop-1200", "shpo-1001"],
    /^Create the unit `shop-1200` and the unit `shpo-1001`\? This was not confirmed/,
  );
  await json("teams", "add", "market", "shop-1200", "--yes");
  assert.equal(await kv.get(name), key);
  const { units } = await json("teams", "show", "market");
  assert.deepEqual(units, [...ids, "shop-1200"]);
  assert.match(await words("teams", "list"), /^market {2}201 +\S+Z/m);
  assert.match(await words("keys", "list"), /^[0-9a-f]{12} {2}live {2}team market /m);
  const removed = { team: "market", units: ["shop-1000", "shop-1200"] };
  assert.deepEqual(await json("teams", "remove", "market", ...removed.units, "--yes"), removed);
  await fails(
    ["teams", "remove", "market", "shop-1001", "shop-1000", "--yes"],
    /^nothing was removed, because `shop-1000` is no longer in the team `market`: \S+ removed it at 20/,
  );
  assert.equal((await json("teams", "show", "market")).units.length, 199);
  await fails(["teams", "show", "markt"], "the team `markt` has no units");
});

test("an invalid ID is named in the error, with the format of IDs, and nothing is changed", async (t) => {
  const { names, fails } = await operator(t);
  const rule =
    "is not an ID: write 1 to 128 ASCII characters without blanks, commas, double quotes and backslashes";
  const long = "u".repeat(129);
  const month = ["--month", "2026-10", "--yes"];
  const paid = ["--amount", "1", "--paid-at", "2026-11-05", "--invoice", "1"];
  for (const [wrong, ...args] of [
    ["a b", "keys", "create", "--mode", "test", "--unit", "a b"],
    ["a,b", "keys", "create", "--mode", "test", "--team", "a,b", "--yes"],
    ["a b", "keys", "list", "--unit", "a b"],
    ["", "teams", "add", "", "u"],
    ["é", "teams", "add", "t", "u", "é"],
    ["a b", "teams", "remove", "t", "a b"],
    ["a b", "teams", "show", "a b"],
    [long, "units", "add", long],
    ["a b", "units", "set", "a b", "--name", "N"],
    ["a b", "units", "unset", "a b", "link"],
    ["a b", "units", "show", "a b"],
    ["a b", "units", "remove", "a b"],
    ["a b", "transactions", "find", "--unit", "a b", "--reference", "r"],
    ["a b", "transactions", "usage", "--unit", "a b"],
    ["a b", "transactions", "export", "--unit", "a b", "--month", "2026-10"],
    ["a b", "transactions", "erase", "--unit", "a b", "--email", "a@b.example", "--yes"],
    ["a b", "payments", "mark", "--unit", "a b", ...month, ...paid],
    ["a b", "payments", "undo", "--unit", "a b", ...month],
    ["a b", "payments", "list", "--unit", "a b"],
  ])
    await fails(args, `\`${wrong}\` ${rule}`);
  const colon = "`t:u` is not the ID of a team: write it without a colon";
  await fails(["keys", "create", "--mode", "test", "--team", "t:u"], colon);
  await fails(["teams", "add", "t:u", "u"], colon);
  assert.deepEqual(await names(), []);
});
