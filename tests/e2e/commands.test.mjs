/**
 * The operator's commands, in this process, on this machine's KV: what they take, write and print. The rules are proven
 * in tests/operator.rs and tests/transactions.rs, Cloudflare's API in kv.test.mjs.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { userInfo } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import test from "node:test";
import { operate } from "../../scripts/lib/operations.mjs";
import { portOf } from "../../scripts/lib/operator.mjs";
import { UserError, placeInWords } from "../../scripts/lib/output.mjs";
import { fixturesIn } from "../support/fixtures.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { contents, localKv, run, scratch, tools } from "./script.mjs";

/** A time as commands print it. */
const seconds = (time) => time.replace(/\.\d+Z$/, "Z");
const nameOf = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

/**
 * The commands on records of their own. `json` and `words` return what is printed behind the place, `fails` what is
 * said instead; `printed` is all that was.
 */
async function operator(t) {
  const kv = await localKv(t);
  const where = placeInWords(kv.place);
  const printed = [];
  const command = async (code, args, input, { isTTY = false } = {}) => {
    const ended = await run(args[0], args.slice(1), { kv, input, isTTY });
    printed.push(ended.out, ended.problem);
    assert.equal(ended.code, code, ended.problem);
    return ended;
  };
  const jsonOf = ({ out }) => {
    const { place, ...answer } = JSON.parse(out);
    assert.deepEqual(place, kv.place);
    return answer;
  };
  const wordsOf = ({ out }) => {
    const [first, empty, ...rest] = out.split("\n");
    assert.deepEqual([first, empty], [where, ""]);
    return rest.join("\n");
  };
  return {
    kv,
    printed,
    command,
    json: async (...args) => jsonOf(await command(0, [...args, "--json"])),
    words: async (...args) => wordsOf(await command(0, args)),
    wordsOf,
    jsonOf,
    fails: async (args, message, input) => {
      const { out, problem } = await command(1, args, input);
      assert.equal(out, "");
      const [, said] = problem.match(/^stopped: (.*) \((.*)\)\n$/) ?? [];
      assert.ok(problem.endsWith(` (${where})\n`), problem);
      assert[message instanceof RegExp ? "match" : "equal"](said, message);
    },
    /** A record without the name of the change that wrote it, which is an entry of the audit log. */
    changed: async (name) => {
      const { change, ...record } = JSON.parse((await kv.get(name)) ?? "");
      assert.match((await kv.get(change)) ?? "", /"command":/);
      return record;
    },
    /** Those of all records but the record of changes. */
    names: async () =>
      (await Array.fromAsync(kv.names())).filter((name) => !name.startsWith("audit:")),
    /** Brings the ledger in line with the records. */
    reconcile: () => operate(tools, portOf(kv), "ledger", "check"),
  };
}

// ---- Keys ----------------------------------------------------------------------------------------

test("keys are made, listed, replaced and revoked, and no output shows the namespace's secret", async (t) => {
  const { kv, json, words, command, fails, names, printed } = await operator(t);
  const unit = ["--mode", "live", "--unit", "unit_1", "--label", "Grüße", "--by", "Ada"];
  await fails(
    ["keys", "create", ...unit],
    "The unit `unit_1` is not registered. Register it as a new one? Not confirmed, no key was made: pass `--yes` to confirm without a prompt",
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
    /^The unit `uint_1` \(there is `unit_1`\) is not registered\. Register it as a new one\? /,
  );

  const team = ["--mode", "test", "--team", "t", "--label", "\u009b31m", "--yes"]; // a terminal would turn red
  await fails(["keys", "create", ...team], /^the label is out of bounds/);
  const [teamKey] = (await words("keys", "create", ...team.toSpliced(4, 2))).split("\n");
  assert.match(teamKey, /^service_sk_test_[a-z2-7]{40}$/);
  assert.equal(JSON.parse(await kv.get(nameOf(teamKey))).team, "t");

  const damaged = `key:${"0".repeat(64)}`;
  await kv.write([{ key: damaged, value: "{}" }]);
  const list = await words("keys", "list");
  assert.match(
    list,
    new RegExp(`^${row.id}  live  unit   unit_1 +Grüße  ${seconds(row.created)}  Ada$`, "m"),
  );
  assert.match(
    list,
    new RegExp(`^[0-9a-f]{12}  test  team   t +\\S+Z  ${userInfo().username}$`, "m"),
  );
  assert.match(list, /^0{12} {2}\? .*unreadable metadata: invalid type: null/m);
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
    `The key ${row.id} was already replaced by ${second.id}. Create another? Not confirmed, nothing was done: pass \`--yes\` to confirm without a prompt`,
  );
  const third = await json("keys", "rotate", second.id, "--keep", "0");
  assert.ok(!(await names()).includes(second.name));

  const revoke = ["keys", "revoke", third.id];
  const question = `Revoke the live key ${third.id} of the unit \`unit_1\`, “Grüße”, ${placeInWords(kv.place)}?`;
  await fails(
    revoke,
    `${question} Not confirmed, nothing was revoked: pass \`--yes\` to confirm without a prompt`,
  );
  const atTerminal = (answer) => command(answer === "yes" ? 0 : 1, revoke, answer, { isTTY: true });
  for (const answer of ["", "y", "no"])
    assert.match((await atTerminal(answer)).problem, /Type `yes`: stopped: nothing was revoked/);
  assert.ok((await names()).includes(third.name));
  assert.equal((await atTerminal("yes")).problem, `${question} Type \`yes\`: `);
  await command(0, ["keys", "revoke", "--yes"], `${teamKey}\n`); // the key itself, on standard input
  await fails(["keys", "revoke", nameOf(teamKey), "--yes"], "not revoked: no such key here");
  const rest = await json("keys", "revoke", row.name, "--yes");
  assert.deepEqual(rest, { id: row.id, name: row.name, revoked: true });
  assert.deepEqual(await names(), [damaged, "secret", "team:t", "unit:unit_1"]);
  assert.ok(!printed.join("").includes(secret));
});

test("a change is recorded with who made it, and what is not recorded is not made", async (t) => {
  const { kv, json, fails, command } = await operator(t);
  const changes = async () => {
    const records = await Array.fromAsync(kv.read(kv.names("audit:")));
    return records.map(({ value }) => JSON.parse(value ?? "")).reverse();
  };
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

test("a key that is not named deletes nothing, and a failure is JSON for programs", async (t) => {
  const { kv, command, jsonOf, fails, names } = await operator(t);
  const twins = ["1", "2"].map((last) => `key:${"a".repeat(63)}${last}`);
  await kv.write(twins.map((key) => ({ key, value: "{}" })));
  await fails(["keys", "revoke"], /^2 keys have IDs that begin with `a{12}`/, "a".repeat(12));
  await fails(["keys", "revoke"], /^no key has the ID `b{12}`/, "b".repeat(12));
  const unknown = ["keys", "rotate", "f".repeat(64), "--keep", "0", "--json"];
  const message = "there is no key ffffffffffff: nothing was done";
  assert.deepEqual(jsonOf(await command(1, unknown)), { error: { code: "failed", message } });
  assert.deepEqual(await names(), twins);
});

test("where the old key's end can't be written, the new key is shown all the same", async (t) => {
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
  const [shown] = wordsOf(await command(1, rotate)).split("\n");
  for (const each of [key, shown]) assert.ok((await names()).includes(nameOf(each)));
});

// ---- Prices --------------------------------------------------------------------------------------

test("each mode has prices of its own, and a wrong file changes none", async (t) => {
  const { changed, kv, json, words, fails, command } = await operator(t);
  const EUR = { currencyCode: "EUR", unitPrices: { tree: "0.50" } };
  const GBP = { currencyCode: "GBP", unitPrices: {} };
  const stored = async () => {
    const { catalogues } = await json("prices", "show");
    return [catalogues.test, catalogues.live].map(({ prices, ...catalogue }) => catalogue);
  };
  assert.deepEqual(await json("prices", "show"), { catalogues: { test: null, live: null } });
  assert.match(await words("prices", "show"), /^prices of live keys\nno price list is set/m);
  await command(0, ["prices", "set", "-", "--mode", "test"], JSON.stringify(GBP));
  const file = join(scratch(t), "prices.json");
  writeFileSync(file, JSON.stringify(EUR));
  assert.match(
    await words("prices", "set", file, "--mode", "live"),
    /^prices of live keys, in EUR\nOFFERING {2}BEFORE {2}NOW\ntree {6}– {7}0\.50\n0 as before$/m,
  );
  const { prices, ...record } = await changed("catalogue:live");
  assert.deepEqual(record, { ...EUR, version: 1 });
  assert.deepEqual(JSON.parse(await kv.get(`prices:live:${prices}`)), { ...record, prices });
  assert.deepEqual(await stored(), [GBP, EUR]);
  const live = await json("prices", "show", "--mode", "live");
  assert.deepEqual(live, { catalogues: { live: { ...EUR, prices } } });

  await fails(
    ["prices", "set", "-"],
    /^the price list: .*write a plain decimal in quotes.* at line 1 column 46$/,
    '{"currencyCode":"EUR","unitPrices":{"tree":0.5}}',
  );
  await fails(["prices", "set", `${file}.csv`], /prices\.json\.csv: ENOENT: /);
  writeFileSync(file, "tree,0.50\n");
  await fails(["prices", "set", file], `${file}: is not JSON: expected ident at line 1 column 3`);
  assert.deepEqual(await stored(), [GBP, EUR]);
});

test("prices that go, and another currency, are asked about; each change is kept with who made it", async (t) => {
  const { json, words, command } = await operator(t);
  const file = join(scratch(t), "prices.json");
  const set = (currencyCode, unitPrices, ...args) => {
    writeFileSync(file, JSON.stringify({ currencyCode, unitPrices }));
    return ["prices", "set", file, ...args];
  };
  await json(...set("USD", { tree: "0.50", "plastic-kg": "1.25" }, "--by", "Ada"));
  const asked = async (args) => (await command(1, args)).problem;
  const lost = await asked(set("USD", { tre: "50" }, "--mode", "live"));
  assert.match(lost, /^tree {8}0\.50 {4}–$/m);
  assert.match(
    lost,
    /^stopped: live keys: offerings that lose their price: 2\. Set these prices\? Not confirmed, no price was changed: /m,
  );
  const moved = await asked(set("EUR", { tree: "0.50", "plastic-kg": "1.25" }));
  assert.match(
    moved,
    /^stopped: test keys: the currency changes from USD to EUR; live keys: the c/m,
  );

  const price = ["prices", "change", "tree", "0.55", "--mode", "live", "--by", "Bo"];
  assert.match(await words(...price), /^tree {6}0\.50 {4}0\.55\n1 as before$/m);
  await json(...set("EUR", { tree: "0.60" }, "--mode", "test", "--by", "Cy", "--yes"));
  const history = (await words("prices", "history")).replaceAll(/^\S+Z {2}/gm, "");
  assert.equal(
    history,
    `TIME                  BY   MODE  OFFERING    BEFORE  AFTER
Ada  test  plastic-kg  –       1.25
Ada  test  tree        –       0.50
Ada  live  plastic-kg  –       1.25
Ada  live  tree        –       0.50
Bo   live  tree        0.50    0.55
Cy   test  (currency)  USD     EUR
Cy   test  plastic-kg  1.25    –
Cy   test  tree        0.50    0.60
`,
  );
  const { history: live } = await json("prices", "history", "--mode", "live");
  const { catalogues } = await json("prices", "show");
  assert.deepEqual([live.at(-1).time, live.length], [catalogues.live.prices, 2]);
});

// ---- Units and teams -----------------------------------------------------------------------------

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
  await fails(["units", "set", "unit_1", "--name", "N"], /^The unit `unit_1` is not registered/);
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
    /^unit_1 .* on +hello@nord\.example +Asia\/Kolkata\n.*document notifications\.md/ms,
  );
  const dated = { replyTo: "hello@nord.example", timeZone: "Asia/Kolkata" };
  const mailed = { ...named, mail: true, ...dated };
  assert.deepEqual(await changed("profile:unit_1"), { ...mailed, version: 1 });
  assert.match(await words("units", "set", "unit_1", "--mail", "off"), /^unit_1 .* off +hello@/m);
  const { accent, language, ...rest } = named;
  const unset = ["units", "unset", "unit_1", "accent", "language", "reply-to", "time-zone"];
  assert.deepEqual(await json(...unset), { unit: "unit_1", profile: rest });
  await kv.write([{ key: "profile:unit_0", value: "{}" }]);
  assert.deepEqual(await json("units", "add", "unit_2", "--by", "Ada"), { units: ["unit_2"] });
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
    /^unit_0 +unreadable record: `name` is out of bounds/m,
  );

  const wrong = ["units", "set", "unit_1", "--name", "Nord", "--link", "http://nord.example/"];
  await fails(
    wrong,
    "`logo` and `link` are addresses: write `https://…` without a user, at most 2,048 bytes",
  );
  await fails(
    ["units", "set", "unit_1", "--reply-to", "Nord <hello@nord.example>"],
    "`reply-to` is no e-mail address: write it as `hello@shop.example`",
  );
  await fails(
    ["units", "set", "unit_1", "--time-zone", "Mars/Olympus"],
    "`time-zone` is not a time zone of the IANA database: write it as `Europe/Berlin`",
  );
  await fails(["units", "unset", "unit_3", "link"], "the unit `unit_3` has no profile");
  await fails(
    ["units", "remove", "unit_3"],
    "the register has no unit `unit_3`, and it has no profile",
  );
  for (const unit of ["unit_0", "unit_1", "unit_2"])
    assert.deepEqual(await json("units", "remove", unit), { unit, removed: true });
  assert.deepEqual(await names(), []);
  assert.equal(await words("units", "list"), "no units\n");
  await fails(
    ["units", "show", "unit_1"],
    "the unit `unit_1` has no profile: its timelines show the name Impact Pledge",
  );
});

test("of two who set a profile at the same moment one is done, and the other reads whose", async (t) => {
  const { kv, changed } = await operator(t);
  // As long as on Cloudflare: on a busy machine both could take longer than a local change waits, and both give way.
  const port = { ...portOf(kv), settleMs: 1_000 };
  const set = (by) => operate(tools, port, "units", "set", { by, unit: "unit_1", name: by });
  const outcomes = await Promise.allSettled([set("Ada"), set("Bo")]);
  const { name } = await changed("profile:unit_1");
  const [lost, ...others] = outcomes.filter(({ status }) => status === "rejected");
  assert.deepEqual(others, []);
  const words = `^nothing of yours was kept: ${name} changed the profile of the unit \`unit_1\` at 2`;
  assert.match(lost.reason.message, new RegExp(words));
});

test("a team of 200 units gets one more without another key", async (t) => {
  const { kv, json, words, fails } = await operator(t);
  const ids = Array.from({ length: 200 }, (_, number) => `shop-${1_000 + number}`);
  assert.equal(await words("teams", "list"), "no teams\n");
  await json("teams", "add", "market", ...ids, "--yes");
  const { name } = await json("keys", "create", "--mode", "live", "--team", "market");
  const key = await kv.get(name);
  await fails(
    ["teams", "add", "market", "shop-1200", "shpo-1001"],
    /^Not registered: unit `shop-1200` \(there is `shop-1000`\), unit `shpo-1001` \(there is `shop-1001`\)\. Register them/,
  );
  await json("teams", "add", "market", "shop-1200", "--yes");
  assert.equal(await kv.get(name), key);
  const { units } = await json("teams", "show", "market");
  assert.deepEqual(units, [...ids, "shop-1200"]);
  assert.match(await words("teams", "list"), /^market {2}201 +\S+Z/m);
  assert.match(await words("keys", "list"), /^[0-9a-f]{12} {2}live {2}team {3}market /m);
  const removed = { team: "market", units: ["shop-1000", "shop-1200"] };
  assert.deepEqual(await json("teams", "remove", "market", ...removed.units), removed);
  await fails(
    ["teams", "remove", "market", "shop-1001", "shop-1000"],
    /^nothing was removed: `shop-1000` is not in the team `market` any more: \S+ removed it at 20/,
  );
  assert.equal((await json("teams", "show", "market")).units.length, 199);
  await fails(["teams", "show", "markt"], "the team `markt` has no units here");
});

test("an ID that cannot be one is named, with what IDs look like, and nothing is changed", async (t) => {
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

// ---- Transactions --------------------------------------------------------------------------------

const ID = "ptran_f74hxzdgxljvqeegtsq7kummqadht4ietopodwyawa"; // a test key's of unit_dev
const LIVE_ID = "ptran_jsbk2rxqdo5lmnfxgaytemzugu3doobzmfrggzdfmy"; // of unit_dev_two
const { records: RECORDS } = fixturesIn("records").find(({ file }) => file === "format-1.json");
const ENTRIES = [
  ...Object.entries(RECORDS).map(([key, { value, metadata }]) => ({
    key,
    value,
    ...(metadata && { metadata }),
  })),
  { key: "secret", value: JSON.stringify({ secret: "0f".repeat(32), version: 1 }) },
];

test("a transaction is found, shown and erased", async (t) => {
  const { kv, json, words, fails, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  await reconcile();
  const find = ["transactions", "find", "--unit", "unit_dev"];
  const { transactions, damaged } = await json(...find, "--reference", "order-1001");
  assert.deepEqual([transactions.map(({ id }) => id), damaged], [[ID], 0]);
  const byEmail = [...find, "--mode", "test", "--email", "Ada@Example.org"];
  assert.match(
    await words(...byEmail),
    new RegExp(`^${ID}  \\S+Z  unit_dev  test  1\\.50 USD$`, "m"),
  );

  const show = ["transactions", "show", ID];
  const masked = await words(...show);
  for (const line of [
    /^Recipient +a…@e…, A…$/m,
    /^Reference +order-1001$/m,
    /^Record +created with an Idempotency-Key$/m,
    /^tree +3 +T…, t…, t…$/m,
  ])
    assert.match(masked, line);
  assert.doesNotMatch(masked, /edit_key|ada@|Ada/);
  const whole = await words(...show, "--reveal");
  assert.match(whole, /^Recipient +ada@example\.org, Ada$/m);
  assert.ok(!whole.includes("edit_key"));
  const { transaction } = await json(...show, "--timeline");
  assert.match(transaction.timelineUrl, /\?edit_key=/);
  assert.equal(transaction.pledges[0].recipient.email, "a…@e…");
  const looked = await Array.fromAsync(kv.read(kv.names("audit:")));
  const changes = looked.map(({ value }) => JSON.parse(value ?? ""));
  for (const { command, on } of changes)
    assert.deepEqual([command, on], ["transactions reveal", [ID]]);
  assert.equal(changes.length, 2, "what is shown masked is not recorded");

  const before = await contents(kv);
  const erase = ["transactions", "erase", ID];
  await fails(
    erase,
    `Erase ${ID} of ${placeInWords(kv.place)}? This cannot be undone. Not confirmed, nothing was erased: pass \`--yes\` to confirm without a prompt`,
  );
  assert.deepEqual(await contents(kv), before);
  assert.deepEqual(await json(...erase, "--yes"), { id: ID, erased: true, before: null });
  assert.doesNotMatch(await kv.get(`transaction:${ID}`), /ada@|Ada|order-1001|placed an order/);
  assert.match(
    await words(...erase, "--yes"),
    /is erased, and was already erased at \S+Z\. Amounts/,
  );
  assert.match(
    await words(...show, "--reveal"),
    /^Record +erased .+, created with an Idempotency/m,
  );
  assert.match(await words(...byEmail), /^no matching transaction$/m);
});

// ---- E-mails -------------------------------------------------------------------------------------

const HOUR = 3_600_000;
const FIRST = new Date(Date.now() - HOUR).toISOString();
/** The live transaction, made an hour ago, and its unit, whose e-mails are on. */
const MAILED = (() => {
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const profile = { name: "Nord", mail: true, replyTo: "hello@nord.example" };
  return [
    {
      key: `transaction:${LIVE_ID}`,
      value: JSON.stringify({ ...JSON.parse(value), createdAt: FIRST }),
      metadata,
    },
    { key: "profile:unit_dev_two", value: JSON.stringify(profile) },
  ];
})();
const NOTIFICATION = `notification:${LIVE_ID}`;
const SENT = { state: "sent", round: 2, at: FIRST, attempts: 3, providerId: "mail-1" };
const LIST = ["emails", "failed"];
const [SHOW, RESEND, PREVIEW] = ["show", "resend", "preview"].map((name) => [
  "emails",
  name,
  LIVE_ID,
]);

test("what became of an e-mail is shown, failures are listed, and it can be looked at", async (t) => {
  const { kv, json, words, fails, printed } = await operator(t);
  await kv.write([...ENTRIES, ...MAILED]);
  const row = { id: LIVE_ID, mode: "live", unit: "unit_dev_two", createdAt: FIRST };
  const waiting = { ...row, recipient: "a…@e…", mail: { state: "waiting" } };
  assert.deepEqual(await json(...SHOW), waiting);
  assert.match(await words("transactions", "show", LIVE_ID), /^E-mail +waiting$/m);
  assert.deepEqual((await json("transactions", "show", LIVE_ID)).mail, { state: "waiting" });
  assert.match(await words("emails", "show", ID), /^E-mail +off: the unit's e-mails are off$/m);
  assert.match(await words(...LIST), /^no e-mail is listed as failed$/m);

  const failure = { state: "failed", reason: "E_RECIPIENT_SUPPRESSED", round: 1, at: FIRST };
  await kv.write([
    { key: NOTIFICATION, value: JSON.stringify({ ...failure, attempts: 1 }) },
    { key: `mail-failed:2026-11-20:${LIVE_ID}`, value: "{}" },
    { key: `mail-failed:2026-11-21:${ID}`, value: "{}" },
  ]);
  const { failed, more } = await json(...LIST);
  const days = failed.map(({ day, id }) => [day, id]);
  assert.deepEqual(days, [
    ["2026-11-21", ID],
    ["2026-11-20", LIVE_ID],
  ]);
  assert.deepEqual([failed[1].now.mail, more], [{ ...failure, attempts: 1 }, false]);
  await kv.write([{ key: NOTIFICATION, value: JSON.stringify(SENT) }]);
  const line = `2026-11-20  ${LIVE_ID}  unit_dev_two  live  sent, ${FIRST}, attempt 3, round 2, ID mail-1`;
  assert.ok((await words(...LIST, "--day", "2026-11-20")).endsWith(`${line}\n`));
  assert.match(await words(...LIST, "--limit", "1"), /^There are more: raise `--limit`/m);
  assert.doesNotMatch(printed.join(""), /ada@|edit_key/);

  const file = join(scratch(t), "mail.html");
  const preview = await words(...PREVIEW, "--html", file);
  for (const text of [
    /^From +Nord$/m,
    /^To +a…@e…$/m,
    /^Reply-To +hello@nord\.example$/m,
    /^Subject +Nord has pledged 3 trees for you$/m,
    /^Hello Ada,$/m,
    /^http:\/\/pledge\.example\/timeline\/ptran_.+edit_key=/m,
  ])
    assert.match(preview, text);
  assert.match(readFileSync(file, "utf8"), /^<!DOCTYPE html>.*Nord has pledged 3 trees for you/);
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  const exists = `${file} already exists, and is not overwritten: choose another name`;
  await fails([...PREVIEW, "--html", file], exists);
});

test("an e-mail is sent again locally, and an erase forgets to whom it was sent", async (t) => {
  const { kv, json, words, fails, command, names } = await operator(t);
  const messages = [];
  const { origin, close } = await onLoopback(
    createServer(async (request, response) => {
      const body = String(await buffer(request));
      if (request.url === "/developer/notifications") messages.push(JSON.parse(body));
      response.writeHead(request.method === "POST" ? 202 : 200).end();
    }),
  );
  t.after(close);
  await kv.write([...ENTRIES, ...MAILED, { key: NOTIFICATION, value: JSON.stringify(SENT) }]);
  const before = await contents(kv);
  const at = ["--origin", origin];
  const { problem } = await command(1, [...RESEND, ...at]);
  for (const said of [
    `So far: sent, ${FIRST}, attempt 3, round 2, ID mail-1. It was already sent: the recipient gets a second e-mail.`,
    `Send the e-mail of ${LIVE_ID} of ${placeInWords(kv.place)} to a…@e…, as round 3? Not confirmed, nothing was sent: pass \`--yes\` to confirm without a prompt`,
  ])
    assert.ok(problem.includes(said), problem);
  await fails(
    ["emails", "resend", ID, ...at, "--yes"],
    `there is no e-mail of ${ID} to send: the e-mails of the unit \`unit_dev\` are off: \`units set unit_dev --mail on\` turns them on`,
  );
  assert.deepEqual([await contents(kv), messages], [before, []]);
  const message = { id: LIVE_ID, createdAt: FIRST, round: 3 };
  assert.deepEqual(await json(...RESEND, ...at, "--yes"), { ...message, before: SENT });
  assert.deepEqual(messages, [message]);
  const [change] = await unchanged(kv, before);
  assert.deepEqual([change.command, change.on], ["emails resend", [LIVE_ID]]);

  const { before: queued } = await json(...RESEND, ...at, "--yes");
  assert.deepEqual([queued.state, queued.round, messages.length], ["waiting", 3, 1]);
  assert.match(
    await words(...RESEND, ...at, "--yes"),
    /^It is already queued, and was not queued/m,
  );
  const { round } = await json(...RESEND, ...at, "--yes", "--again");
  assert.deepEqual([round, messages.map(({ round }) => round)], [4, [3, 4]]);
  assert.equal((await unchanged(kv, before)).length, 2);

  const failure = { state: "failed", reason: "no-more-attempts", round: 4, at: FIRST, attempts: 6 };
  const failed = [NOTIFICATION, JSON.stringify(failure)];
  const listed = [`mail-failed:${FIRST.slice(0, 10)}:${LIVE_ID}`, "{}"];
  await kv.write([failed, listed].map(([key, value]) => ({ key, value })));
  const ofDay = ["emails", "resend", "--failed-on", FIRST.slice(0, 10), ...at];
  await fails(ofDay, /^Send all e-mails of .+ again that failed on 2026-.+ since\? Not confirmed/);
  const counts = { day: FIRST.slice(0, 10), before: 0, ended: 0, refused: [] };
  assert.deepEqual(await json(...ofDay, "--yes"), { ...counts, queued: 1 });
  assert.match(await words(...ofDay, "--yes"), /^Queued: 0\nAlready queued: 1\nSent, skipped/m);
  assert.deepEqual(messages.at(-1), { ...message, round: 5 });
  assert.equal(messages.length, 3);

  await close();
  const nothing = /^no service answers at http.+: run `npm start`, or pass the address/;
  await fails([...RESEND, ...at, "--yes", "--again"], nothing);
  await fails([...ofDay, "--yes"], nothing);

  const hash = "0123456789abcdef".repeat(2);
  const day = new Date().toISOString().slice(0, 10);
  await kv.write([
    { key: NOTIFICATION, value: JSON.stringify({ ...SENT, address: hash }) },
    { key: `mailed:${day}:${hash}:${LIVE_ID}`, value: "{}" },
    { key: `mail-failed:${day}:${LIVE_ID}`, value: "{}" },
  ]);
  await command(0, ["transactions", "erase", LIVE_ID, "--yes"]);
  assert.doesNotMatch(JSON.stringify(await contents(kv)), new RegExp(hash));
  assert.ok((await names()).includes(`mail-failed:${day}:${LIVE_ID}`));
  assert.deepEqual((await json(...SHOW)).mail, { state: "erased" });
  for (const args of [[...RESEND, ...at], PREVIEW])
    await fails(args, /^there is no e-mail of \S+ to send: its recipient was erased on /);
});

/** The changes that were recorded since; all other records are as they were, but for what is noted of the queue. */
async function unchanged(kv, before) {
  const now = Object.entries(await contents(kv)).filter(([name]) => !(name in before));
  const added = now.filter(([name]) => !name.startsWith("mail-queued:"));
  assert.ok(added.every(([name]) => name.startsWith("audit:")));
  return added.map(([, { value }]) => JSON.parse(value ?? ""));
}

test("an e-mail is sent again by the queue of the deployed Worker, with nothing personal in the message", async (t) => {
  const { env, account } = await cloudflare(t, { page: 100 });
  const [{ extras }] = account.namespaces;
  for (const { key, value, metadata } of MAILED) {
    account.records.set(key, value);
    extras.set(key, { metadata });
  }
  const args = ["resend", LIVE_ID, "--again", "--remote", "--yes", "--json", "--by", "Zoë"];
  const resend = () => run("emails", args, { env });
  const isAudit = (name) => name.startsWith("audit:");
  const unbound = await resend();
  assert.match(
    unbound.problem,
    /^stopped: the Worker `impact-pledge` of the account account-1 has no queue bound as NOTIFICATIONS: it sends no e-mails \(account account-1, /,
  );
  assert.ok(![...account.records.keys()].some(isAudit));
  const queue_name = "impact-pledge-notifications";
  const binding = { type: "queue", name: "NOTIFICATIONS", queue_name };
  account.bindings.get("impact-pledge").push(binding);
  assert.match((await resend()).problem, /^stopped: the account account-1 has no queue `impact-/);
  const queue = { queue_id: "queue-1", queue_name, messages: [] };
  account.queues.push(queue);
  const { code, out, problem } = await resend();
  assert.equal(code, 0, problem);
  const message = { id: LIVE_ID, createdAt: FIRST, round: 2 };
  const { place, ...answer } = JSON.parse(out);
  assert.deepEqual(answer, { ...message, before: { state: "waiting" } });
  assert.equal(place.worker, "impact-pledge");
  assert.deepEqual(queue.messages, [{ body: message, content_type: "json" }]);
  const [audit, ...others] = [...account.records].filter(([name]) => isAudit(name));
  assert.deepEqual([JSON.parse(audit[1]).by, others], ["Zoë", []]);
  assert.doesNotMatch(audit[1] + out, /ada@|Ada|edit_key/);

  account.fault = (asked) => (/^POST \/queues/.test(asked) ? { status: 503 } : undefined);
  account.asked.length = 0;
  assert.match((await resend()).problem, /can't put the message into the queue: status 503/);
  const puts = account.asked.filter((asked) => asked === "POST /queues/queue-1/messages");
  assert.equal(puts.length, 1, "it may have been put there");
});

test("nothing that a file or a record says controls the terminal", async (t) => {
  const { kv, command, printed } = await operator(t);
  const hostile = "\u001b[2J\u009b\u202e";
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const record = value.replace('"order-1001"', JSON.stringify(hostile));
  await kv.write([...ENTRIES, { key: `transaction:${LIVE_ID}`, value: record, metadata }]);
  const show = ["transactions", "show", LIVE_ID, "--reveal"];
  await command(0, show);
  const { out } = await command(0, [...show, "--json"]);
  assert.equal(JSON.parse(out).transaction.reference, hostile);
  await command(1, ["prices", "set", "-"], `{"currencyCode":"${hostile}","unitPrices":{}}`);
  await command(1, ["prices", "set", hostile]);
  const file = join(scratch(t), "backup.jsonl");
  await kv.write([{ key: hostile, value: "" }]);
  await command(0, ["transactions", "backup", file]);
  await kv.write([{ key: hostile, value: "other" }]);
  await command(1, ["transactions", "restore", file]);
  assert.doesNotMatch(printed.join(""), /(?!\n)[\p{Cc}\u202e]/u);
});

test("what an address has is found and erased, in one unit or in all, with a receipt", async (t) => {
  const { kv, json, words, command, jsonOf, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  const [find, erase] = ["find", "erase"].map((name) => [
    "transactions",
    name,
    "--email",
    "ADA@example.org",
  ]);
  await reconcile();
  const { transactions, completeUpTo } = await json(...find);
  assert.deepEqual(transactions.map(({ id }) => id).sort(), [ID, LIVE_ID].sort());
  assert.match(
    await words(...find),
    new RegExp(`^Complete up to ${seconds(completeUpTo)}\\.`, "m"),
  );
  const byReference = ["transactions", "find", "--reference", "order-1001"];
  assert.deepEqual(
    (await json(...byReference)).transactions.map(({ id }) => id).sort(),
    [ID, LIVE_ID].sort(),
  );
  const before = await contents(kv);
  const asked = await command(1, erase);
  assert.match(asked.problem, /^stopped: Search all transactions of unit_dev\S*, unit_dev\S* of /m);
  const inUnit = [...erase, "--unit", "unit_dev"];
  const askedInUnit = await command(1, inUnit);
  assert.match(
    askedInUnit.problem,
    new RegExp(
      `^${ID} (?:.*\\n)+stopped: Search all transactions of unit_dev of .+ for the address`,
      "m",
    ),
  );
  assert.deepEqual(await contents(kv), before);

  const { by, transactions: receipt } = await json(...inUnit, "--yes", "--by", "Zoë");
  const row = { id: ID, unit: "unit_dev", mode: "test" };
  assert.deepEqual([by, receipt], ["Zoë", [{ ...row, erased: receipt[0].erased }]]);
  const young = `transaction:${LIVE_ID.slice(0, -1)}e`;
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const now = value.replace(/"createdAt":"[^"]+"/, `"createdAt":"${new Date().toISOString()}"`);
  await kv.write([{ key: young, value: now, metadata }]);
  const rest = jsonOf(await command(1, [...erase, "--yes", "--json"])).transactions;
  const [left] = rest.filter(({ erased }) => erased === null);
  assert.deepEqual([rest.length, `transaction:${left.id}`], [2, young]);
  assert.match(left.problem, /^it was created less than 5 minutes ago/);
  await kv.remove([young]);
  assert.match(await words(...erase, "--yes"), /^no matching transaction: nothing was erased$/m);
  assert.match(await words(...inUnit, "--yes"), /^no matching transaction: nothing was erased$/m);
  assert.doesNotMatch(JSON.stringify(await contents(kv)), /ada@/i);
});

test("a month is summed, and its pledges are lines of a new file, in which no cell is a formula", async (t) => {
  const { kv, json, words, command, fails, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  const formula = '=cmd|"/c calc"!A1';
  const summary = {
    createdAt: "2026-11-30T23:59:59.999Z",
    amount: "0.10",
    currencyCode: "EUR",
    quantities: [],
  };
  const other = `ptran_${"a".repeat(42)}`;
  const metadata = { version: 1, mode: "live", unit: formula, editKey: "0", summary };
  const of = RECORDS[`transaction:${LIVE_ID}`];
  const { pledges, ...order } = JSON.parse(of.value);
  const [{ impact, ...pledge }] = pledges;
  const twice = JSON.stringify({
    ...order,
    reference: "-1\n\u001b[2J",
    pledges: [pledges[0], { ...pledge, impact: { ...impact, amount: 1e21 } }],
  });
  await kv.write([
    { key: `transaction:${other}`, value: "", metadata },
    { key: `transaction:${LIVE_ID}`, value: twice, metadata: of.metadata },
    { key: "profile:unit_dev_two", value: '{"name":"Nord, Süd"}' },
  ]);
  await reconcile();
  const folder = scratch(t);
  const file = join(folder, "november.csv");
  const month = ["transactions", "export", "--month", "2026-11"];
  const sum = (unit, amount, currencyCode) => ({
    unit,
    mode: "live",
    month: "2026-11",
    currencyCode,
    transactions: 1,
    unpriced: 0,
    amount,
    settled: null,
  });
  const sums = [sum(formula, "0.10", "EUR"), sum("unit_dev_two", "1.50", "USD")];
  const { completeUpTo } = await json(...month);
  assert.ok(Math.abs(Date.now() - 120_000 - Date.parse(completeUpTo)) < 60_000);
  const beside = { damaged: 0, completeUpTo };
  const answer = { month: "2026-11", mode: "live", sums, transactions: 2, ...beside };
  symlinkSync(join(folder, "elsewhere"), `${file}.part`);
  assert.deepEqual(await json(...month, "--csv", file), { ...answer, file });
  const csv = readFileSync(file, "utf8");
  const { createdAt } = of.metadata.summary;
  const beginning = `${LIVE_ID},${createdAt},live,unit_dev_two,"Nord, Süd",'-1\ufffd\ufffd[2J,tree`;
  assert.deepEqual(csv.split("\r\n"), [
    "\ufeffid,createdAt,mode,unit,unitName,reference,offering,quantity,amount,currencyCode,unpriced,erased",
    `${other},${summary.createdAt},live,"'=cmd|""/c calc""!A1",,,,,0.10,EUR,0,`,
    `${beginning},3,1.50,USD,0,`,
    `${beginning},1e+21,,USD,,`,
    "",
  ]);
  assert.deepEqual(readdirSync(folder), ["november.csv"]);
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  await fails(
    [...month, "--csv", file],
    `${file} already exists, and is not overwritten: choose another name`,
  );
  await fails([...month, "--csv", join(file, "x")], /^the file can't be written: ENOTDIR/);
  const piped = await command(0, [...month, "--csv", "-"]);
  assert.equal(piped.out, csv);
  assert.match(piped.problem, /^2026-11 +unit_dev_two +live +1 +1\.50 +USD$/m);
  assert.deepEqual(await json(...month, "--unit", "unit_dev_two"), {
    ...answer,
    sums: sums.slice(1),
    transactions: 1,
    file: null,
  });
  assert.equal((await json(...month, "--mode", "both")).transactions, 3);
  assert.match(
    await words("transactions", "export", "--month", "2025-01"),
    /^no live transactions in 2025-01$/m,
  );
});

test("transactions with an offering that had no price are listed, and the exit code says so", async (t) => {
  const { kv, json, words, command, wordsOf, jsonOf, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  await reconcile();
  const unpriced = ["transactions", "usage", "--unpriced"];
  assert.match(await words(...unpriced), /^every offering of these transactions had a price$/m);
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const ids = ["e", "i"].map((last) => `${LIVE_ID.slice(0, -1)}${last}`);
  const misspelt = {
    value: value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
    metadata: { ...metadata, summary: { ...metadata.summary, unpriced: 1 } },
  };
  await kv.write(ids.map((id) => ({ ...misspelt, key: `transaction:${id}` })));
  await reconcile();
  const found = jsonOf(await command(1, [...unpriced, "--unit", "unit_dev_two", "--json"]));
  const { sums, examples } = found;
  assert.deepEqual([found.month, sums.map(({ amount }) => amount)], [null, ["4.50"]]);
  assert.deepEqual(
    examples.map(({ id, unpriced }) => [id, unpriced]),
    ids.map((id) => [id, 1]).reverse(),
  );
  const shown = wordsOf(await command(1, [...unpriced, "--month", "2026-11"]));
  assert.match(shown, /^2026-11 +unit_dev_two +live +3 +4\.50 +USD +2$/m);
  const line = new RegExp(`^${ids[0]} +\\S+Z +unit_dev_two +live +1\\.50 USD +1$`, "m");
  assert.match(shown, line);
  const list = ["transactions", "list", "--unpriced"];
  assert.match(await words(...list), line);
  const listed = async (...more) => (await json(...list, ...more)).transactions.map(({ id }) => id);
  assert.deepEqual(await listed(), ids.toReversed());
  assert.deepEqual(await listed("--limit", "1", "--month", "2026-11"), [ids[1]]);
  assert.deepEqual(await listed("--mode", "test"), []);
  assert.match(await words("transactions", "show", ids[0]), /^tre +3 /m);
});

test("quantities of a month are summed by offering, of a unit or of all", async (t) => {
  const { kv, json, words, reconcile } = await operator(t);
  await kv.write(ENTRIES);
  await reconcile();
  const quantities = ["transactions", "quantities", "--month", "2026-11"];
  const sum = { month: "2026-11", mode: "live", offering: "tree", transactions: 1, quantity: "3" };
  const { completeUpTo, ...answer } = await json(...quantities);
  const beside = { more: false, damaged: 0, leftOut: 0 };
  assert.deepEqual(answer, { month: "2026-11", mode: "live", quantities: [sum], ...beside });
  assert.match(await words(...quantities), /^tree +3 +1 +live$/m);
  assert.match(
    await words(...quantities),
    new RegExp(`^Complete up to ${seconds(completeUpTo)}`, "m"),
  );
  const nothing = /^nothing was pledged in 2026-11$/m;
  assert.match(await words(...quantities, "--unit", "unit_dev"), nothing);
  assert.equal((await json(...quantities, "--mode", "both")).quantities.length, 2);
});

test("without a ledger a command says what it needs, and finds an order of a unit", async (t) => {
  const { kv, json, fails } = await operator(t);
  await kv.write(ENTRIES);
  kv.ledger = null;
  const found = await json(
    "transactions",
    "find",
    "--unit",
    "unit_dev_two",
    "--reference",
    "order-1001",
  );
  assert.deepEqual(
    found.transactions.map(({ id }) => id),
    [LIVE_ID],
  );
  const month = ["--month", "2026-11"];
  for (const [name, ...args] of [
    ["find", "--unit", "unit_dev", "--email", "ada@example.org"],
    ["find", "--reference", "order-1001"],
    ["list"],
    ["usage"],
    ["quantities", ...month],
    ["export", ...month],
    ["erase", "--email", "ada@example.org", "--yes"],
  ])
    await fails(["transactions", name, ...args], /^this needs the ledger/);
  assert.equal((await json("transactions", "erase", ID, "--yes")).erased, true);
});

test("a month is marked as paid by its exact sum, shown beside it, left out, and taken back", async (t) => {
  const { changed, kv, json, words, command, fails, reconcile } = await operator(t);
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const inOctober = (last, more) => ({
    key: `transaction:${LIVE_ID.slice(0, -1)}${last}`,
    value: value.replace('"offeringId":"tree"', '"offeringId":"tre"'),
    metadata: {
      ...metadata,
      summary: { ...metadata.summary, createdAt: "2025-10-31T23:59:59.999Z", ...more },
    },
  });
  const euros = { amount: "0.30", currencyCode: "EUR", unpriced: 2 };
  await kv.write([...ENTRIES, inOctober("e", {}), inOctober("i", euros)]);
  await reconcile();
  const october = ["--unit", "unit_dev_two", "--month", "2025-10"];
  const paid = ["--paid-at", "2025-11-05", "--invoice", "2025/17", "--by", "Ada"];
  const mark = (...more) => ["payments", "mark", ...october, ...paid, ...more];
  const both = ["--amount", "1.5", "--currency", "USD", "--amount", "0.30", "--currency", "EUR"];
  const before = await contents(kv);
  const month = "2025-10 of the unit `unit_dev_two` (live)";
  await fails(
    mark("--amount", "1.80"),
    `nothing was marked: ${month} has sums in several currencies: name the currency of each amount`,
  );
  await fails(
    mark("--amount", "1.80", "--currency", "USD"),
    `nothing was marked: ${month} has a sum of 0.30 EUR and 1.50 USD, and not of 1.80 USD`,
  );
  await fails(
    mark(...both),
    /has 2 pledges without a price, for example in ptran_\S+i: they are charged as 0/,
  );
  const right = mark(...both, "--accept-unpriced", "2");
  await fails(
    right,
    /^Mark 2025-10 of unit_dev_two \(live\) of .+ as paid: 0\.30 EUR and 1\.50 USD on 2025-11-05T00:00:00Z, invoice 2025\/17\? Not confirmed/,
  );
  assert.deepEqual(await contents(kv), before);
  const sums = [
    { currencyCode: "EUR", amount: "0.30", transactions: 1, unpriced: 2 },
    { currencyCode: "USD", amount: "1.50", transactions: 1, unpriced: 0 },
  ];
  const { at, ...marked } = await json(...right, "--yes");
  const of = { unit: "unit_dev_two", mode: "live", month: "2025-10" };
  const payment = { paidAt: "2025-11-05T00:00:00.000Z", sums, invoice: "2025/17", by: "Ada" };
  assert.deepEqual(marked, { ...of, ...payment });
  const name = "settlement:live:unit_dev_two:2025-10";
  assert.deepEqual(await changed(name), { ...payment, at, version: 1 });
  await fails([...right, "--yes"], /is marked already: 0\.30 EUR and 1\.50 USD paid on 2025-11-05/);

  await kv.write([inOctober("m", {})]); // as only an operator's own hand could
  await reconcile();
  const lines =
    /^2025-10 +unit_dev_two +live +1 +0\.30 +EUR +2 +0\.30 +2025-11-05T00:00:00Z +2025\/17$/m;
  assert.match(await words("transactions", "usage", ...october), lines);
  const usage = await json("transactions", "usage", ...october);
  const settled = { amount: "1.50", paidAt: payment.paidAt, invoice: "2025/17" };
  const [, dollars] = usage.sums;
  const late = [`${LIVE_ID.slice(0, -1)}m`];
  assert.deepEqual([dollars.amount, dollars.settled, dollars.late], ["3.00", settled, late]);
  const named = `^2025-10 of unit_dev_two \\(live\\): ${late}$`;
  assert.match(await words("transactions", "usage", ...october), new RegExp(named, "m"));
  const { now, ...shown } = await json("payments", "show", ...october);
  assert.deepEqual([shown.sums, now.map(({ amount }) => amount)], [sums, ["0.30", "3.00"]]);
  assert.match(
    await words("payments", "show", ...october),
    /^Its sum in the ledger is now 0\.30 EUR and 3\.00 USD\.$/m,
  );
  const view = ["transactions", "show", `${LIVE_ID.slice(0, -1)}e`];
  assert.match(await words(...view), /^Paid +2025-11-05T00:00:00Z$/m);
  const unpaid = ["transactions", "export", "--month", "2025-10", "--unpaid"];
  assert.match(await words(...unpaid), /^no unpaid live transactions in 2025-10$/m);
  assert.equal((await json(...unpaid.slice(0, -1))).transactions, 3);
  const list = ["payments", "list", "--unit", "unit_dev_two"];
  assert.deepEqual((await json(...list)).payments, [{ ...marked, at }]);
  assert.match(await words(...list), /^2025-10 +live +1\.50 +USD +1 +2025-11-05T/m);

  const undo = ["payments", "undo", ...october];
  await fails(
    [...undo, "--mode", "test"],
    "nothing was undone: 2025-10 of unit_dev_two (test) is not marked as paid here",
  );
  const asked = await command(1, undo);
  assert.match(
    asked.problem,
    /^2025-10 +live .+\n+stopped: Mark 2025-10 of unit_dev_two .+ as unpaid\?/m,
  );
  assert.deepEqual(await json(...undo, "--yes"), { ...marked, at });
  assert.equal(await kv.get(name), null);
  assert.match(await words(...list), /^no month is marked as paid$/m);
  assert.doesNotMatch(await words(...view), /^Paid/m);
  await fails(
    ["payments", "show", ...october],
    "2025-10 of unit_dev_two (live) is not marked as paid here",
  );
  assert.equal((await json(...unpaid)).transactions, 3);
});

test("a backup is made and restored", async (t) => {
  const { kv, json, words, fails, command } = await operator(t);
  await kv.write(ENTRIES);
  const before = await contents(kv);
  const file = join(scratch(t), "backup.jsonl");
  const [backup, restore] = ["backup", "restore"].map((name) => ["transactions", name, file]);
  const made = await words(...backup, "--by", "ada");
  assert.match(made, new RegExp(`^.*backup\\.jsonl: ${ENTRIES.length} records`));
  const last = await kv.get("backup");
  const { at, ...rest } = JSON.parse(last ?? "");
  assert.deepEqual(rest, { records: ENTRIES.length, by: "ada", version: 1 });
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000);
  await fails(backup, `${file} already exists, and is not overwritten: choose another name`);
  const { write } = kv;
  kv.write = () => Promise.reject(new UserError("this token may only read"));
  const { out, problem } = await command(0, ["transactions", "backup", `${file}l`, "--json"]);
  assert.deepEqual([JSON.parse(out).recorded, await kv.get("backup")], [false, last]);
  assert.match(
    problem,
    /^The backup is complete, but could not be recorded as the last one: this token may/m,
  );
  kv.write = write;
  await kv.remove([...Object.keys(before), "backup"]);
  const { from, written, secretReplaced } = await json(...restore, "--with-keys", "--yes");
  assert.deepEqual([from.place, written, secretReplaced], [kv.place, ENTRIES.length, false]);
  assert.deepEqual(await unaudited(kv), before);
  await kv.write([{ key: "catalogue:test", value: "{}" }]);
  await fails(
    restore,
    /^the namespace has a different record `catalogue:test`, so nothing was overwritten/,
  );
  const done =
    /^1 records of .+ were written and read back, \d+ were already there, 0 have expired since, 0 stay erased, 5 were left out\./;
  assert.match(await words(...restore, "--overwrite"), done);
  assert.deepEqual(await unaudited(kv), before);
});

/** All but the record of changes. */
async function unaudited(kv) {
  const all = Object.entries(await contents(kv));
  return Object.fromEntries(all.filter(([name]) => !name.startsWith("audit:")));
}

test("a restore brings back no erased person and no revoked key", async (t) => {
  const { kv, json, words, command, names } = await operator(t);
  const member = { key: "member:shop:web", value: "{}" };
  await kv.write([...ENTRIES, member]);
  const folder = scratch(t);
  const [early, late] = ["early", "late"].map((name) => join(folder, `${name}.jsonl`));
  assert.ok((await json("transactions", "backup", early)).recorded);
  await json("transactions", "erase", ID, "--yes");
  const [key] = (await names()).filter((name) => name.startsWith("key:9a9bc3c4"));
  await command(0, ["keys", "revoke", key, "--yes"]);
  await kv.remove([member.key]);
  await json("transactions", "backup", late);
  const erased = await contents(kv);

  const restore = ["transactions", "restore", early, "--overwrite"];
  const { written, erased: kept, left, keys, sha256 } = await json(...restore);
  assert.deepEqual([written, kept, left, keys.count], [0, 1, 6, 1]);
  const now = await contents(kv);
  const [change] = Object.keys(now).filter((name) => !(name in erased));
  const { command: by, on } = JSON.parse(now[change].value);
  assert.deepEqual([by, on], ["transactions restore", [sha256]]);
  delete now[change];
  assert.deepEqual(now, erased);
  assert.match(await words(...restore), /^9a9bc3c4ae87 {2}live {2}unit_dev$/m);
  await kv.remove([`transaction:${ID}`]); // the mark stays
  assert.deepEqual((await json(...restore)).written, 1);
  const again = (await contents(kv))[`transaction:${ID}`];
  assert.equal(again.value, erased[`transaction:${ID}`].value);
  assert.doesNotMatch(JSON.stringify(again.metadata), /lookup/);

  await kv.remove(Object.keys(await contents(kv)));
  for (const file of [late, early]) await json(...restore.with(2, file));
  const all = Object.entries(await contents(kv)).filter(([name]) => name in erased);
  const isLeft = /^(?:key:|member:|backup$)/;
  const noKeys = Object.entries(erased).filter(([name]) => !isLeft.test(name));
  assert.deepEqual(Object.fromEntries(all), Object.fromEntries(noKeys));

  const withKeys = [...restore, "--with-keys"];
  const { problem } = await command(1, withKeys);
  assert.match(
    problem,
    /^9a9bc3c4ae87 {2}live {2}unit_dev\n(?:.*\n)*stopped: Restore these API keys/m,
  );
  assert.ok(!(await names()).includes(key));
  assert.deepEqual((await json(...withKeys, "--yes")).keys.count, 3);
  assert.ok((await names()).includes(key));
});
