/**
 * Tests backups: what they contain, which files a restore refuses, and that an interrupted backup or restore
 * can be run again.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { recordsOf } from "../../scripts/lib/backup-reader.mjs";
import { backup } from "../../scripts/lib/backup.mjs";
import { UserError } from "../../scripts/lib/output.mjs";
import { operator } from "../../scripts/lib/operator.mjs";
import { restore as restoreBy } from "../../scripts/lib/restore.mjs";
import { deployedKv } from "./cloudflare.mjs";
import { localKv, scratch, tools } from "./script.mjs";

const inAnHour = Math.round(Date.now() / 1000) + 3_600;
const BINARY = Buffer.from([0, 255, 254, 13, 10, 195]).toString("base64");
const OF_END = { expiration: inAnHour + 3_600 };
const OF = { metadata: { of: ["any", null] }, expiration: inAnHour };
/** Records, in the order of their names. @type {import("../../scripts/lib/kv.mjs").Entry[]} */
const ENTRIES = [
  { key: "a:empty", value: "" },
  { key: "a:lines", value: "one\r\ntwo\u2028three\u0000", metadata: "text" },
  { key: "a:replacement", value: "Gr\ufffd\ufffde" },
  { key: "b:binary", value: BINARY, base64: true, ...OF },
  ...Array.from({ length: 20 }, (_, number) => ({
    key: `transaction:${String(number).padStart(3, "0")}`,
    value: `{"n":${number},"name":"Zoë 🌳"}`,
    metadata: { version: 1, unit: "ünit", summary: { lookup: null } },
    ...(number % 5 ? {} : { expiration: inAnHour }),
  })),
  { key: "ü:é", value: "x" },
];
const count = ENTRIES.length;
const now = { waitMs: 0 };
const rules = await operator(tools);
/** @param {Parameters<typeof restoreBy>[3]} [options] */
const restore = (kv, file, options) => restoreBy(kv, [file].flat(), rules, options);

/** Returns the whole contents of a namespace. */
async function contents(kv) {
  const all = [];
  for (const { name, metadata, expiration } of await Array.fromAsync(kv.list()))
    all.push({ name, metadata, expiration, bytes: (await kv.bytes(name)).toString("base64") });
  return all;
}

async function wipe(kv) {
  await kv.remove(await Array.fromAsync(kv.names()));
}

const linesOf = (file) => readFileSync(file, "utf8").trimEnd().split("\n");
function isOnlyMine(file) {
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
}

const local = async (t) => ({ kv: await localKv(t) });

/**
 * Creates a namespace with these records, and a backup of it in a folder of its own. Returns the namespace,
 * its contents, and the backup.
 */
async function backedUp(t, { open = deployedKv, entries = ENTRIES } = {}) {
  const at = await open(t);
  await at.kv.write(entries);
  const folder = scratch(t);
  const file = join(folder, "all.jsonl");
  const before = await contents(at.kv);
  const made = await backup(at.kv, file, rules);
  return { ...at, folder, file, before, made };
}

for (const [name, open] of Object.entries({ local, deployed: deployedKv }))
  test(`${name}: a restore writes the same bytes into the namespace`, async (t) => {
    const { kv, folder, file, before, made } = await backedUp(t, { open });
    assert.equal(before.length, count);
    assert.deepEqual(readdirSync(folder), ["all.jsonl"]);
    isOnlyMine(file);
    const [header, ...lines] = linesOf(file);
    const { startedAt, ...format } = JSON.parse(header);
    assert.deepEqual(format, { format: "impact-pledge-backup", version: 3, place: kv.place });
    const records = ENTRIES.map(({ key: name, value, base64, ...rest }) =>
      JSON.stringify({ name, [base64 ? "base64" : "value"]: value, ...rest }),
    );
    const database = JSON.stringify({ epoch: null, keptFrom: 0 });
    const rows = kv.ledger ? [JSON.stringify({ table: "database", row: database })] : [];
    const text = [header, ...records, ...rows, ""].join("\n");
    const sha256 = createHash("sha256").update(text).digest("hex");
    const counts = { count, rows: rows.length };
    assert.deepEqual(lines, [...records, ...rows, JSON.stringify({ ...counts, sha256 })]);
    const lacks = kv.ledger ? null : "no database is bound as `LEDGER_DB`";
    assert.deepEqual(made, { ...counts, lacks, sha256 });

    await wipe(kv);
    const { from, ledger, ...done } = await restore(kv, file, now);
    const written = { count, written: count, same: 0, expired: 0, erased: 0, left: 0 };
    const keys = { count: 0, examples: [] };
    assert.deepEqual([ledger.lacks, ledger.isLost], [kv.ledger ? null : "rows", false]);
    assert.deepEqual(done, { ...written, keys, secretReplaced: false, sha256 });
    assert.deepEqual(from, { place: kv.place, startedAt });
    assert.deepEqual(await contents(kv), before);
    assert.deepEqual(readdirSync(folder), ["all.jsonl"]);
  });

test("a restore replaces records that differ only with `--overwrite`", async (t) => {
  const { kv, file, before } = await backedUp(t);
  await restore(kv, file, now); // over the same records
  for (const changed of [
    { key: "a:empty", value: "x" },
    { key: "transaction:003", value: ENTRIES[7].value }, // without its metadata
    { key: "b:binary", value: `${BINARY.slice(0, -2)}A=`, base64: true, ...OF },
    { key: "transaction:004", value: ENTRIES[8].value, metadata: ENTRIES[8].metadata, ...OF_END },
  ]) {
    await kv.write([changed, { key: "z:new", value: "of another" }]);
    await kv.remove(["transaction:001"]);
    await assert.rejects(restore(kv, file, now), {
      message: `the namespace has a different record \`${changed.key}\`, so nothing was overwritten. With \`--overwrite\`, the backup replaces records that differ`,
    });
    assert.equal(await kv.get("transaction:001"), null, "nothing was written");
    await restore(kv, file, { ...now, overwrite: true });
    assert.equal(await kv.get("z:new"), "of another");
    await kv.remove(["z:new"]);
    assert.deepEqual(await contents(kv), before);
  }
});

test("replay records are restored only together with the secret that they were made with", async (t) => {
  const replay = { key: "idempotency:1", value: "{}" };
  const secretOf = (digit) => ({
    key: "secret",
    value: JSON.stringify({ secret: digit.repeat(64) }),
  });
  const unkeyed = await backedUp(t, { entries: [replay] });
  await assert.rejects(restore(unkeyed.kv, unkeyed.file, now), {
    message:
      "this backup has replay records, but not the secret that they were made with. After a restore, repeated create requests would be recorded twice. Nothing was written. To leave out the replay records, use `--only transactions`",
  });
  const { kv, file } = await backedUp(t, { entries: [replay, secretOf("1")] });
  await wipe(kv);
  await kv.write([secretOf("2")]);
  await assert.rejects(
    restore(kv, file, now),
    /this namespace and the backup have different secrets/,
  );
  assert.deepEqual(await Array.fromAsync(kv.names()), ["secret"], "nothing was written");
  const { secretReplaced } = await restore(kv, file, { ...now, overwrite: true });
  assert.deepEqual([secretReplaced, await kv.get("secret")], [true, secretOf("1").value]);
  const again = await restore(kv, file, now);
  assert.deepEqual([again.written, again.secretReplaced], [0, false]);
});

test("only transactions are restored into a namespace with its own keys and secret", async (t) => {
  const secretOf = (digit) => ({ key: "secret", value: `{"secret":"${digit.repeat(64)}"}` });
  const keyOf = (digit) => ({ key: `key:${digit.repeat(64)}`, value: "{}" });
  const [order, replay] = [ENTRIES[5], { key: "idempotency:1", value: "{}" }];
  const settlement = { key: "settlement:live:u:2026-10", value: "{}" };
  const { kv, file } = await backedUp(t, {
    entries: [order, replay, keyOf("1"), secretOf("1"), settlement],
  });
  for (const [own, taken] of [
    ["2", [order.key]],
    ["1", [replay.key, order.key]],
  ]) {
    await wipe(kv);
    await kv.write([keyOf("2"), secretOf(own)]);
    const { written, left } = await restore(kv, file, { ...now, onlyTransactions: true });
    const there = [...taken, keyOf("2").key, "secret"].sort();
    assert.deepEqual(await Array.fromAsync(kv.names()), there);
    assert.equal(await kv.get("secret"), secretOf(own).value);
    assert.deepEqual([written, left], [taken.length, 5 - taken.length]);
  }
});

const NO_BACKUP = "is not a backup of this service";
const CUT = "is not complete: its last line is missing";
const CHANGED = "was changed: its SHA-256 differs from the value in its last line";

test("what is no whole backup is refused in one line before anything is written", async (t) => {
  const { kv, folder, file } = await backedUp(t);
  await wipe(kv);
  const whole = readFileSync(file);
  const lines = linesOf(file);
  const text = (...some) => `${some.join("\n")}\n`;
  /**
   * Returns the text of a backup in which these lines replace the third line. The last line has the count and
   * the hash that match the new text.
   */
  const edited = (...some) => {
    const before = text(lines[0], lines[1], ...some, ...lines.slice(3, -1));
    const sha256 = createHash("sha256").update(before).digest("hex");
    return before + text(JSON.stringify({ count: count - 1 + some.length, rows: 0, sha256 }));
  };
  const record = (members) => edited(JSON.stringify({ name: "a:lines", value: "", ...members }));
  const ofHeader = (members) =>
    text(JSON.stringify({ ...JSON.parse(lines[0]), ...members }), ...lines.slice(1));
  for (const [bytes, problem] of [
    ["", NO_BACKUP],
    ["{}\n", NO_BACKUP],
    ["null\n", NO_BACKUP],
    ["not JSON", NO_BACKUP],
    [Buffer.alloc(3_000_000), NO_BACKUP],
    [ofHeader({ place: { kind: "cloudflare", account: 1 } }), NO_BACKUP],
    [ofHeader({ version: "one" }), NO_BACKUP],
    [ofHeader({ version: 2 }), NO_BACKUP],
    [text(lines[0]), CUT],
    [text(...lines.slice(0, -1)), CUT],
    [whole.subarray(0, -1), CUT],
    [whole.subarray(0, -100), CUT],
    [
      text(...lines.slice(0, 3), ...lines.slice(4)),
      `has ${count - 1} records, but its last line says ${count}: it was changed`,
    ],
    [whole.toString().replace("Zoë", "Zoé"), CHANGED],
    [
      whole.toString().replace('"version":3', '"version":5'),
      "was written by a later release: restore it with that release",
    ],
    [text(...lines, lines.at(-2)), "was changed: lines were added after its end"],
    [edited(lines[2], lines[2]), "was changed: line 4 is out of order"],
    [text(lines[0], lines[2], lines[1], ...lines.slice(3)), "was changed: line 3 is out of order"],
    [edited("\u001b[2J{"), "was changed: line 3 is not a record"],
    [edited("7"), "was changed: line 3 is not a record"],
    [record({ name: `a:${"l".repeat(511)}` }), "was changed: line 3 has an invalid `name`"],
    [record({ name: 7 }), "was changed: line 3 has an invalid `name`"],
    [record({ value: undefined }), "was changed: line 3 has an invalid `value`"],
    [record({ value: "\ud800" }), "was changed: line 3 has an invalid `value`"],
    [record({ base64: "" }), "was changed: line 3 has an invalid `value`"],
    [record({ value: undefined, base64: "?" }), "was changed: line 3 has an invalid `base64`"],
    [record({ metadata: "m".repeat(1_023) }), "was changed: line 3 has an invalid `metadata`"],
    [record({ expiration: "soon" }), "was changed: line 3 has an invalid `expiration`"],
  ]) {
    const broken = join(folder, "broken.jsonl");
    writeFileSync(broken, bytes);
    await assert.rejects(restore(kv, broken, { ...now, overwrite: true }), {
      constructor: UserError,
      message: `${broken} ${problem}`,
    });
  }
  const none = join(folder, "none");
  await assert.rejects(restore(kv, none, now), { message: `there is no file ${none}` });
  await assert.rejects(restore(kv, folder, now), {
    constructor: UserError,
    message: `${folder} is a folder`,
  });
  assert.deepEqual(await contents(kv), []);
});

test("an existing file is not overwritten", async (t) => {
  const { kv, folder, file } = await backedUp(t, { entries: [] });
  const before = readFileSync(file);
  await assert.rejects(backup(kv, file, rules), {
    message: `${file} already exists, and is not overwritten: choose another name`,
  });
  assert.deepEqual(readFileSync(file), before);
  const [other, elsewhere] = [join(folder, "other.jsonl"), join(folder, "elsewhere")];
  symlinkSync(elsewhere, `${other}.part`);
  await backup(kv, other, rules);
  isOnlyMine(other);
  assert.ok(!existsSync(elsewhere), "no link is followed");
});

/**
 * Returns a function that injects faults into calls. Refuses the call with this number, and all later calls,
 * with the status 403.
 */
function breaksAt(call) {
  let calls = 0;
  return () => {
    calls += 1;
    return calls >= call ? { status: 403 } : undefined;
  };
}

test("wherever a backup is interrupted, the same command starts again and completes it", async (t) => {
  const { kv, account, folder, file } = await backedUp(t, { entries: ENTRIES.slice(0, 12) });
  const records = linesOf(file).slice(1, -1);
  for (let call = 1; call <= 7; call += 1) {
    // 6 pages of names, and one call that reads the records
    const file = join(folder, `${call}.jsonl`);
    account.fault = breaksAt(call);
    await assert.rejects(backup(kv, file, rules), /status 403/);
    await assert.rejects(restore(kv, file, now), {
      message: `there is no file ${file}: its backup is not complete, run \`backup\` again`,
    });
    writeFileSync(`${file}.part`, '{"name":"torn'.padEnd(100_000), { flag: "a", mode: 0o644 }); // what a killed process may leave
    account.fault = () => undefined;
    await backup(kv, file, rules);
    assert.deepEqual(linesOf(file).slice(1, -1), records);
    await Array.fromAsync(recordsOf(file));
    isOnlyMine(file);
    assert.ok(!existsSync(`${file}.part`));
  }
});

test("wherever a restore is interrupted, the same command completes it", async (t) => {
  const { kv, account, file, before } = await backedUp(t);
  for (let call = 1; call <= 6; call += 1) {
    await wipe(kv);
    account.fault = breaksAt(call);
    await assert.rejects(restore(kv, file, now), /status 403/);
    account.fault = () => undefined;
    const { written, same } = await restore(kv, file, now);
    assert.equal(written + same, count);
    assert.deepEqual(await contents(kv), before);
  }
});

test("expired records are left out and counted", async (t) => {
  const soon = Math.round(Date.now() / 1000) + 70;
  const { kv, file } = await backedUp(t, {
    entries: [
      { key: "a:old", value: "1", expiration: soon },
      { key: "a:new", value: "2", expiration: inAnHour },
    ],
  });
  await wipe(kv);
  const { written, expired } = await restore(kv, file, now);
  assert.deepEqual([written, expired], [1, 1]);
  const left = (await contents(kv)).map(({ name, expiration }) => [name, expiration]);
  assert.deepEqual(left, [["a:new", inAnHour]]);
});

test("what became of an e-mail is restored where the place has nothing of it, and of nobody who was erased", async (t) => {
  const [erased, newer, lost] = ["a", "b", "c"].map((letter) => `ptran_${letter.repeat(41)}a`);
  const marker = (id, round) => ({ key: `notification:${id}`, value: `{"round":${round}}` });
  const listed = `mail-failed:2026-11-21:${lost}`;
  const { kv, file } = await backedUp(t, {
    entries: [
      { key: listed, value: "{}", expiration: inAnHour },
      { key: `mailed:2026-11-21:${"0".repeat(32)}:${lost}`, value: "{}", expiration: inAnHour },
      { key: `mail-queued:${lost}`, value: "{}", expiration: inAnHour },
      { key: `ledger-unsent:${lost}`, value: "{}", expiration: inAnHour },
      ...[erased, newer, lost].map((id) => ({ ...marker(id, 1), expiration: inAnHour })),
    ],
  });
  for (const options of [{}, { overwrite: true }, { onlyTransactions: true }]) {
    await wipe(kv);
    const mark = { key: `erased:${erased}`, value: "{}" };
    await kv.write([mark, { ...marker(newer, 2), expiration: inAnHour + 60 }]);
    const done = await restore(kv, file, { ...now, ...options });
    assert.deepEqual([done.written, done.erased, done.left], [2, 1, 4]);
    const there = await contents(kv);
    assert.deepEqual(
      there.map(({ name, expiration }) => [name, expiration]),
      [
        [mark.key, undefined],
        [listed, inAnHour],
        [marker(newer).key, inAnHour + 60],
        [marker(lost).key, inAnHour],
      ],
    );
    assert.equal(await kv.get(marker(newer).key), '{"round":2}');
  }
});

test("a restore waits for a write that shows late, and fails if it never shows", async (t) => {
  const { kv, records, file } = await backedUp(t);
  await wipe(kv);
  let hidden = 3;
  const { read } = kv;
  kv.read = async function* (names) {
    for await (const record of read.call(kv, names))
      yield record.name === "transaction:007" && hidden-- > 0 ? { ...record, value: null } : record;
  };
  await restore(kv, file, now);
  hidden = Number.POSITIVE_INFINITY;
  await assert.rejects(restore(kv, file, { ...now, overwrite: true }), {
    message:
      "1 records differ from the backup, the first is `transaction:007`. Run the same command again",
  });
  records.set("transaction:008", "changed on its way");
  hidden = 0;
  await assert.rejects(restore(kv, file, now), /transaction:008/);
});
