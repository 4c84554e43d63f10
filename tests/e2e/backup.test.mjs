/**
 * Backups: what is in them, what is refused, and that a command that was broken off is run again.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { backup, check, restore } from "../../scripts/lib/backup.mjs";
import { deployedKv } from "./cloudflare.mjs";
import { localKv, scratch } from "./script.mjs";

const inAnHour = Math.round(Date.now() / 1000) + 3_600;
const metadata = {
  version: 1,
  mode: "live",
  unit: "ünit",
  editKey: "0".repeat(64),
  summary: { lookup: null },
};
const BINARY = Buffer.from([0, 255, 254, 13, 10, 195]).toString("base64");
const ENTRIES = [
  { key: "a:empty", value: "" },
  { key: "a:lines", value: "one\r\ntwo\u2028three\u0000", metadata: "text" },
  { key: "a:replacement", value: "Gr\ufffd\ufffde" },
  {
    key: "b:binary",
    value: BINARY,
    base64: true,
    metadata: { of: ["any", null] },
    expiration: inAnHour,
  },
  ...Array.from({ length: 20 }, (_, number) => ({
    key: `transaction:${String(number).padStart(3, "0")}`,
    value: `{"n":${number},"name":"Zoë 🌳"}`,
    metadata,
    ...(number % 5 ? {} : { expiration: inAnHour }),
  })),
  { key: "ü:é", value: "x" },
];

/** All that a namespace holds. */
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
const now = { waitMs: 0, names: { secret: "secret", replays: "idempotency:" } };

const PLACES = {
  "this machine": async (t) => ({ kv: await localKv(t) }),
  "a deployed namespace": deployedKv,
};
for (const [name, open] of Object.entries(PLACES)) {
  test(`${name}: what was in a namespace is in it again, byte for byte`, async (t) => {
    const { kv } = await open(t);
    await kv.write(ENTRIES);
    const before = await contents(kv);
    assert.equal(before.length, ENTRIES.length);
    const file = join(scratch(t), "all.jsonl");
    const made = await backup(kv, file);
    assert.deepEqual({ ...made, sha256: "" }, { count: ENTRIES.length, sha256: "" });
    assert.deepEqual(readdirSync(join(file, "..")), ["all.jsonl"]);
    if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);

    const lines = linesOf(file);
    const [header, trailer] = [lines[0], lines.at(-1)].map((line) => JSON.parse(line));
    assert.deepEqual(
      { ...header, startedAt: "" },
      { format: "impact-pledge-backup", version: 1, place: kv.place, startedAt: "" },
    );
    const before_last = readFileSync(file).subarray(0, -Buffer.byteLength(`${lines.at(-1)}\n`));
    assert.deepEqual(trailer, {
      count: ENTRIES.length,
      sha256: createHash("sha256").update(before_last).digest("hex"),
    });
    const records = lines.slice(1, -1).map((line) => JSON.parse(line));
    assert.deepEqual(
      records.find(({ name }) => name === "b:binary"),
      { name: "b:binary", base64: BINARY, metadata: { of: ["any", null] }, expiration: inAnHour },
    );
    assert.deepEqual(
      records.find(({ name }) => name === "a:replacement"),
      { name: "a:replacement", value: "Gr\ufffd\ufffde" },
    );

    await wipe(kv);
    assert.deepEqual(await contents(kv), []);
    const { from, ...done } = await restore(kv, file, now);
    assert.deepEqual(done, {
      count: ENTRIES.length,
      written: ENTRIES.length,
      same: 0,
      expired: 0,
      secretReplaced: false,
      sha256: made.sha256,
    });
    assert.deepEqual(from, { place: kv.place, startedAt: header.startedAt });
    assert.deepEqual(await contents(kv), before);
    assert.deepEqual(readdirSync(join(file, "..")), ["all.jsonl"]);
  });
}

test("a restore replaces nothing that differs, unless it is told to", async (t) => {
  const { kv } = await deployedKv(t);
  await kv.write(ENTRIES);
  const before = await contents(kv);
  const file = join(scratch(t), "all.jsonl");
  await backup(kv, file);
  await restore(kv, file, now); // over the same records
  for (const changed of [
    { key: "a:empty", value: "x" },
    { key: "transaction:003", value: ENTRIES[7].value },
    {
      key: "b:binary",
      value: `${BINARY.slice(0, -2)}A=`,
      base64: true,
      metadata: { of: ["any", null] },
      expiration: inAnHour,
    },
  ]) {
    await kv.write([changed, { key: "z:new", value: "of another" }]);
    await kv.remove(["transaction:001"]);
    await assert.rejects(restore(kv, file, now), {
      message: `the place has another record \`${changed.key}\`: nothing was overwritten; \`--overwrite\` replaces what differs`,
    });
    assert.equal(await kv.get("transaction:001"), null, "nothing was written");
    await restore(kv, file, { ...now, overwrite: true });
    assert.equal(await kv.get("z:new"), "of another");
    await kv.remove(["z:new"]);
    assert.deepEqual(await contents(kv), before);
  }
});

test("replay records are restored with the secret that they were made with alone", async (t) => {
  const { kv } = await deployedKv(t);
  const folder = scratch(t);
  const secretOf = (digit) => ({ key: "secret", value: JSON.stringify({ secret: digit }) });
  const backupOf = async (name, entries) => {
    await wipe(kv);
    await kv.write([{ key: "idempotency:1", value: "{}" }, ...entries]);
    await backup(kv, join(folder, name));
    await wipe(kv);
    return join(folder, name);
  };
  const unkeyed = await backupOf("unkeyed.jsonl", []);
  const whole = await backupOf("whole.jsonl", [secretOf("1")]);
  await assert.rejects(restore(kv, unkeyed, now), {
    message: `${unkeyed} has replay records, and not the secret that they were made with: their creates would be recorded twice when they are repeated, and nothing was written`,
  });
  await kv.write([secretOf("2")]);
  await assert.rejects(
    restore(kv, whole, now),
    /^Error: this namespace has another secret than the backup/,
  );
  assert.deepEqual(await Array.fromAsync(kv.names()), ["secret"], "nothing was written");
  const { secretReplaced } = await restore(kv, whole, { ...now, overwrite: true });
  assert.deepEqual([secretReplaced, await kv.get("secret")], [true, secretOf("1").value]);
  const again = await restore(kv, whole, now);
  assert.deepEqual([again.written, again.secretReplaced], [0, false]);
});

test("a backup that is not whole is refused before anything is written", async (t) => {
  const { kv } = await deployedKv(t);
  await kv.write(ENTRIES);
  const folder = scratch(t);
  const file = join(folder, "all.jsonl");
  await backup(kv, file);
  await wipe(kv);
  const whole = readFileSync(file);
  const lines = linesOf(file);
  const text = (...some) => `${some.join("\n")}\n`;
  for (const [bytes, problem] of [
    ["", "is no backup of this service"],
    ["{}\n", "is no backup of this service"],
    ["not JSON", "is no backup of this service"],
    [text(lines[0]), "is not complete: its last line is missing"],
    [text(...lines.slice(0, -1)), "is not complete: its last line is missing"],
    [whole.subarray(0, -1), "is not complete: its last line is missing"],
    [whole.subarray(0, -100), "is not complete: its last line is missing"],
    [
      text(...lines.slice(0, 3), ...lines.slice(4)),
      `has ${ENTRIES.length - 1} records, and its last line says ${ENTRIES.length}: it was changed`,
    ],
    [
      text(lines[0], lines[2], lines[1], ...lines.slice(3)),
      "was changed: its SHA-256 is not that of its last line",
    ],
    [
      whole.toString().replace("Zoë", "Zoé"),
      "was changed: its SHA-256 is not that of its last line",
    ],
    [
      whole.toString().replace('"version":1', '"version":2'),
      "was written by a later release: restore it with that one",
    ],
  ]) {
    const broken = join(folder, "broken.jsonl");
    writeFileSync(broken, bytes);
    await assert.rejects(restore(kv, broken, now), { message: `${broken} ${problem}` });
  }
  await assert.rejects(restore(kv, join(folder, "none"), now), {
    message: `there is no file ${join(folder, "none")}`,
  });
  assert.deepEqual(await contents(kv), []);
});

test("no file is overwritten, and one that is not complete is said to be so", async (t) => {
  const { kv, account } = await deployedKv(t);
  await kv.write(ENTRIES);
  const folder = scratch(t);
  const [file, part] = [join(folder, "all.jsonl"), join(folder, "part.jsonl")];
  writeFileSync(file, "mine");
  await assert.rejects(backup(kv, file), {
    message: `${file} exists, and no backup is overwritten: choose another name`,
  });
  assert.equal(readFileSync(file, "utf8"), "mine");
  account.fault = breaksAt(5);
  await assert.rejects(backup(kv, part));
  account.fault = () => undefined;
  await assert.rejects(restore(kv, part, now), {
    message: `there is no file ${part}: its backup is not complete, run that again`,
  });
});

/** From this call on, the API refuses. */
function breaksAt(call) {
  let calls = 0;
  return () => {
    calls += 1;
    return calls >= call ? { status: 403 } : undefined;
  };
}

test("wherever a backup breaks off, the same command begins anew and ends it", async (t) => {
  const { kv, account } = await deployedKv(t);
  await kv.write(ENTRIES.slice(0, 12));
  const folder = scratch(t);
  const whole = join(folder, "whole.jsonl");
  await backup(kv, whole);
  const records = linesOf(whole).slice(1, -1);
  for (let call = 1; call <= 7; call += 1) {
    // 6 pages of names, and one call that reads the records
    const file = join(folder, `${call}.jsonl`);
    account.fault = breaksAt(call);
    await assert.rejects(backup(kv, file), /status 403/);
    writeFileSync(`${file}.part`, '{"name":"torn'.padEnd(100_000), { flag: "a", mode: 0o644 }); // what a killed process may leave
    account.fault = () => undefined;
    const { count } = await backup(kv, file);
    assert.equal(count, 12);
    assert.deepEqual(linesOf(file).slice(1, -1), records);
    await check(file);
    if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!existsSync(`${file}.part`));
  }
});

test("wherever a restore breaks off, the same command ends it", async (t) => {
  const { kv, account } = await deployedKv(t);
  await kv.write(ENTRIES);
  const before = await contents(kv);
  const file = join(scratch(t), "all.jsonl");
  await backup(kv, file);
  for (let call = 1; call <= 6; call += 1) {
    await wipe(kv);
    account.fault = breaksAt(call);
    await assert.rejects(restore(kv, file, now), /status 403/);
    account.fault = () => undefined;
    const { written, same } = await restore(kv, file, now);
    assert.equal(written + same, ENTRIES.length);
    assert.deepEqual(await contents(kv), before);
  }
  assert.deepEqual(readdirSync(join(file, "..")), ["all.jsonl"]);
});

test("records whose time has ended are left out and counted", async (t) => {
  const { kv } = await deployedKv(t);
  await kv.write([
    { key: "a:old", value: "1", expiration: Math.round(Date.now() / 1000) + 70 },
    { key: "a:new", value: "2", expiration: inAnHour },
  ]);
  const file = join(scratch(t), "all.jsonl");
  await backup(kv, file);
  await wipe(kv);
  const { written, expired } = await restore(kv, file, now);
  assert.deepEqual([written, expired], [1, 1]);
  assert.deepEqual(
    (await contents(kv)).map(({ name, expiration }) => [name, expiration]),
    [["a:new", inAnHour]],
  );
});

test("a write that is seen late is waited for, and one that never is, is a failure", async (t) => {
  const { kv, records } = await deployedKv(t);
  await kv.write(ENTRIES);
  const file = join(scratch(t), "all.jsonl");
  await backup(kv, file);
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
      "1 records are not as they are in the backup, `transaction:007` first: run the same command again",
  });
  records.set("transaction:008", "changed on its way");
  hidden = 0;
  await assert.rejects(restore(kv, file, now), /transaction:008/);
});
