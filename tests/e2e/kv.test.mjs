/** Workers KV as the commands reach it: local and deployed, in good order and not. */
import assert from "node:assert/strict";
import test from "node:test";
import { Kv, openKv } from "../../scripts/lib/kv.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { scratch, tools } from "./script.mjs";

const DEADLINE = 60_000; // far beyond what any call takes here

async function remote(t, { deadline = DEADLINE, ...options } = {}) {
  const { env, account } = await cloudflare(t, options);
  const kv = await openKv({ ...tools, env: { ...tools.env, ...env } }, { remote: true, deadline });
  account.asked.length = 0;
  return { kv, account };
}

async function local(t) {
  const kv = await openKv(tools, { persistTo: scratch(t), deadline: DEADLINE });
  t.after(() => kv.close());
  return { kv };
}

const inAnHour = Math.round(Date.now() / 1000) + 3_600;
const ENTRIES = Array.from({ length: 205 }, (_, number) => ({
  key: `transaction:${String(number).padStart(3, "0")}`,
  value: `Grüße ${number}`,
  metadata: { unit: `u${number}` },
  ...(number % 2 ? { expiration: inAnHour } : {}),
}));

for (const [name, open] of Object.entries({ local, remote })) {
  test(`${name}: values, metadata and expiry are written, listed in pages, read in order and removed`, async (t) => {
    const { kv } = await open(t);
    await kv.write(ENTRIES);
    await kv.write([{ key: "key:1", value: "{}", expirationTtl: 60 }]);
    const listed = await Array.fromAsync(kv.list("transaction:"));
    assert.deepEqual(
      listed.map(({ name, metadata, expiration }) => ({ name, metadata, expiration })),
      ENTRIES.map(({ key, metadata, expiration }) => ({ name: key, metadata, expiration })),
    );
    const names = async function* () {
      for (const { key } of ENTRIES) yield key;
      yield "transaction:none";
    };
    const read = await Array.fromAsync(kv.read(names()));
    assert.deepEqual(read, [
      ...ENTRIES.map(({ key, value, metadata }) => ({ name: key, value, metadata })),
      { name: "transaction:none", value: null, metadata: null },
    ]);
    assert.deepEqual([await kv.get("key:1"), await kv.get("key:2")], ["{}", null]);
    await kv.remove(ENTRIES.slice(1).map(({ key }) => key));
    assert.deepEqual(await Array.fromAsync(kv.names()), ["key:1", "transaction:000"]);
    await assert.rejects(kv.write([{ key: "key:3", value: "", expirationTtl: 59 }]), /can't write/);
  });
}

test("a list continues at a page's cursor, and fetches no page before it is read", async (t) => {
  const { kv, account } = await remote(t);
  for (const number of [1, 2, 3, 4, 5]) account.records.set(`a:${number}`, "");
  const first = await kv.page("a:");
  assert.deepEqual(
    first.names.map(({ name }) => name),
    ["a:1", "a:2"],
  );
  assert.equal(account.asked.length, 1);
  const second = await kv.page("a:", first.cursor);
  const third = await kv.page("a:", second.cursor);
  assert.deepEqual(
    [second, third].map(({ names, cursor }) => [names.map(({ name }) => name), cursor === null]),
    [
      [["a:3", "a:4"], false],
      [["a:5"], true],
    ],
  );
});

test("100,000 records are written in bounded calls, and are taken from their source as they go", async (t) => {
  const { kv, account } = await remote(t);
  let [made, most] = [0, 0];
  const entries = function* () {
    for (; made < 100_000; made += 1) {
      most = Math.max(most, made - account.records.size);
      yield { key: `transaction:${made}`, value: "x".repeat(100) };
    }
  };
  await kv.write(entries());
  assert.equal(account.records.size, 100_000);
  assert.equal(account.asked.length, 100);
  assert.ok(most <= 1_001, `${most} were held at once`);
});

test("large values are written in calls of 20 MB at most", async (t) => {
  const { kv, account } = await remote(t);
  await kv.write(
    Array.from({ length: 15 }, (_, number) => ({
      key: `a:${number}`,
      value: "x".repeat(3_000_000),
    })),
  );
  assert.deepEqual([account.records.size, account.asked.length], [15, 3]);
});

test("local: values that are too large for one call are read in several", async (t) => {
  const { kv } = await local(t);
  const names = Array.from({ length: 12 }, (_, number) => `a:${10 + number}`);
  await kv.write(names.map((key) => ({ key, value: key.repeat(700_000) })));
  const read = await Array.fromAsync(kv.read(names));
  assert.deepEqual(
    read.map(({ name, value }) => [name, value.slice(0, 4), value.length]),
    names.map((name) => [name, name, 2_800_000]),
  );
});

test("values that are too many for one call are read in several", async (t) => {
  const { kv, account } = await remote(t, {
    fault: (asked, { asked: all }) =>
      asked.endsWith("/bulk/get") && all.length <= 3 ? { status: 413 } : undefined,
  });
  const names = Array.from({ length: 8 }, (_, number) => `a:${number}`);
  for (const name of names) account.records.set(name, name);
  assert.deepEqual(
    (await Array.fromAsync(kv.read(names))).map(({ value }) => value),
    names,
  );
});

test("names that a bulk call could not write are written again, once", async (t) => {
  const { kv, account } = await remote(t);
  account.failing = ["a:2"];
  await kv.write(["a:1", "a:2"].map((key) => ({ key, value: "" })));
  assert.deepEqual([...account.records.keys()], ["a:1", "a:2"]);
  assert.equal(account.asked.length, 2);
});

test("a pause that the API asks for is kept, and what passes is tried three times", async (t) => {
  let asks = 0;
  const faulty = (faults) => (asked) => (asked.endsWith("/keys") ? faults[asks++] : undefined);
  const { kv } = await remote(t, {
    fault: faulty([{ status: 429, headers: { "retry-after": "0" } }, { status: 503 }]),
  });
  assert.deepEqual(await Array.fromAsync(kv.list()), []);
  assert.equal(asks, 3);

  asks = 0;
  const broken = await remote(t, {
    fault: faulty(
      Array(9).fill({ status: 500, headers: { "retry-after": "0" }, message: "internal" }),
    ),
  });
  await assert.rejects(Array.fromAsync(broken.kv.list()), {
    message: "Cloudflare's API can't list names: status 500; internal [10000]",
  });
  assert.equal(asks, 3);

  asks = 0;
  const refused = await remote(t, { fault: faulty(Array(9).fill({ status: 403, message: "no" })) });
  await assert.rejects(
    Array.fromAsync(refused.kv.list()),
    /status 403; no \[10000\]; the token needs the permissions/,
  );
  assert.equal(asks, 1);
});

test("an answer that does not come is not waited for", async (t) => {
  const { kv, account } = await remote(t, { deadline: 2_000 });
  account.fault = (asked) => (asked.endsWith("/keys") ? { delay: 600_000 } : undefined);
  await assert.rejects(Array.fromAsync(kv.list()), {
    message: "Cloudflare's API can't list names: no answer within 2 s",
  });
  assert.equal(account.asked.length, 3);
});

test("a list that leads back to its own page ends", async () => {
  const kv = new Kv(
    { kind: "local", folder: "" },
    { list: async () => ({ names: [], cursor: "same" }) },
  );
  await assert.rejects(Array.fromAsync(kv.list()), /the same page again and again/);
});
