/**
 * Tests `npm run fulfilments` and `npm run updates`. They record what was done for a month's pledges, and
 * draft, publish, change and withdraw updates about it.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { PICTURES } from "../../scripts/lib/bucket.mjs";
import { ENTRIES, operator } from "./operator.mjs";
import { scratch } from "./script.mjs";

/** A PNG of one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/**
 * Writes the shared records. Returns the month of their live transaction, which pledges 3 trees, and the
 * functions that run commands.
 */
async function pledged(t) {
  const functions = await operator(t);
  await functions.kv.write(ENTRIES);
  await functions.reconcile();
  const { sums } = await functions.json("transactions", "usage", "--mode", "live");
  assert.equal(sums.length, 1);
  return { month: sums[0].month, ...functions };
}

const DONE = [
  "--done-on",
  "2026-11-03",
  "--partner",
  "Tree Growers",
  "--place",
  "Gazi",
  "--by",
  "Ada",
];
const recordsOf = async (names) => (await names()).filter((name) => name.startsWith("updates:"));

test("fulfilments are recorded once, leave what is to be done, and can be removed", async (t) => {
  const { month, json, words, fails } = await pledged(t);
  const add = (quantity, ...more) => [
    "fulfilments",
    "add",
    month,
    "tree",
    quantity,
    ...DONE,
    ...more,
  ];
  const open = async () => {
    const { balances } = await json("fulfilments", "balance", "--month", month);
    return balances.map(({ offering, pledged, done, open }) => [offering, pledged, done, open]);
  };
  assert.deepEqual(await open(), [["tree", "3", "0", "3"]]);
  await fails(add("9"), /^Record 9 tree as done\? This was not confirmed/);
  await fails(add("0"), /the quantity must be a number above 0/);
  const once = ["--operation-id", "fulfilment-1"];
  const { id, quantity, location, by } = await json(...add("2", ...once));
  assert.deepEqual([quantity, location, by], ["2", "Gazi", "Ada"]);
  const again = await json(...add("2", ...once));
  assert.deepEqual([again.id, !!again.alreadyDone], [id, true]);
  assert.deepEqual(await open(), [["tree", "3", "2", "1"]]);
  assert.match(await words("fulfilments", "list", "--month", month), /Tree Growers/);
  await fails(["fulfilments", "remove", id, "--by", "Ada"], /This was not confirmed/);
  await json("fulfilments", "remove", id, "--by", "Ada", "--yes");
  assert.deepEqual(await open(), [["tree", "3", "0", "3"]]);
});

test("an update is drafted from a fulfilment, published, changed and withdrawn", async (t) => {
  const { month, command, json, words, fails, names } = await pledged(t);
  const by = ["--by", "Ada"];
  const done = await json("fulfilments", "add", month, "tree", "2", ...DONE);
  const { id, state, update, fulfilment } = await json("updates", "draft", done.id, ...by);
  assert.deepEqual([state, update.partner, fulfilment], ["draft", "Tree Growers", done.id]);
  await fails(["updates", "draft", done.id, ...by], /already has an update/);
  await fails(
    ["updates", "publish", id, ...by, "--yes"],
    /write its sentence in at least one language/,
  );
  const edit = ["updates", "edit", id, ...by];
  const { problem } = await command(2, [...edit, "--text", "en=One.", "--text", "EN=Two."]);
  assert.match(problem, /`--text` has two sentences for the language `EN`/);
  await json(...edit, "--text", "en=We planted them.", "--text", "de=Wir haben sie gepflanzt.");
  assert.deepEqual(await recordsOf(names), []);
  const { problem: asked } = await command(1, ["updates", "publish", id, ...by]);
  assert.match(asked, /We planted them.+Publish this update\? This was not confirmed/s);
  assert.equal((await json("updates", "publish", id, ...by, "--yes")).state, "published");
  assert.equal((await recordsOf(names)).length, 1);
  assert.match(await words("updates", "preview", id), /Wir haben sie gepflanzt\. \(de\)/);
  assert.match(await words("updates", "list", "--month", month), /We planted them\..+Published/);
  const { problem: seen } = await command(1, [...edit, "--text", "en=All of them grow."]);
  assert.match(seen, /Buyers see this update\..+Change what buyers see\? This was not confirmed/s);
  assert.match(await words("updates", "preview", id), /We planted them\. \(en\)/);
  await json(...edit, "--text", "en=All of them grow.", "--yes");
  assert.deepEqual(await json("updates", "check"), { compared: 1, written: 0 });
  assert.equal((await json("updates", "withdraw", id, ...by, "--yes")).state, "withdrawn");
});

test("an update of a month that has not begun is refused", async (t) => {
  const { fails } = await pledged(t);
  const add = ["updates", "add", "9999-12", "tree", "--stage", "done", "--date", "2026-11-03"];
  await fails([...add, "--by", "Ada"], /the month 9999-12 has not begun yet/);
});

test("a file is uploaded as the picture of an update, into the bucket of `npm start`", async (t) => {
  const { month, kv, command, json, words, fails } = await pledged(t);
  const folder = scratch(t);
  const file = (name, bytes) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const add = ["updates", "add", month, "tree", "--stage", "done", "--date", "2026-11-03"];
  const picture = (path) => [
    ...add,
    "--by",
    "Ada",
    "--picture-text",
    "Green",
    "--picture-file",
    path,
  ];
  const { update } = await json(...picture(file("a.txt", PNG)));
  const name = `${createHash("sha256").update(PNG).digest("hex")}.png`;
  assert.deepEqual(update.picture, { url: `/pictures/${name}`, text: "Green" });
  const bucket = await kv.bucket(PICTURES);
  assert.deepEqual(await bucket.bytes(name), PNG);
  await fails(picture(file("a.png", "<svg/>")), /the file is not a JPEG, PNG or WebP picture/);
  await fails(picture(join(folder, "none.png")), /none\.png/);
  const both = [...picture(file("b.png", PNG)), "--picture", "https://example.org/a.png"];
  assert.match((await command(2, both)).problem, /^give either `--picture` or `--picture-file`/);
  kv.bucket = async () => null;
  await fails(picture(file("c.png", PNG)), /no bucket is bound as `PICTURES`/);
  assert.match(
    await words("fulfilments", "shops", month, "tree"),
    /UNIT +NAME +ORDERS +PLEDGED\n\S+ +1 +3\n/,
  );
});
