/** Tests `npm run transactions -- fetch-backup`, with a stand-in for Cloudflare's API. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { deployedBucket } from "../../scripts/lib/bucket.mjs";
import { Cloudflare } from "../../scripts/lib/cloudflare.mjs";
import { DASHBOARD } from "../../scripts/lib/configuration.mjs";
import { UserError } from "../../scripts/lib/output.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { operator } from "./operator.mjs";
import { scratch, tools } from "./script.mjs";

const PARTS = ["full-1/00001-a", "full-1/00002-b"];
const HEADER =
  '{"format":"impact-pledge-backup","version":3,"place":{"folder":"x"},"startedAt":"x"}\n';
const RECORD = '{"name":"a","value":"x"}\n';
const sha256 = createHash("sha256")
  .update(HEADER + RECORD)
  .digest("hex");
const TRAILER = `{"count":1,"rows":0,"sha256":"${sha256}"}\n`;
const complete = [
  { name: "full-1", kind: "full", started: 1, records: 1, rows: 0, sha256, parts: PARTS },
];

/** The objects of a bucket with one backup. */
const objects = () =>
  new Map([
    ["index.json", JSON.stringify({ complete, current: null, deleting: [] })],
    [PARTS[0], HEADER],
    [PARTS[1], RECORD + TRAILER],
  ]);

const bucketOf = (contents) => ({
  bytes: async (name) => (contents.has(name) ? Buffer.from(contents.get(name)) : null),
});

test("backups are listed, and copied under their name or kind", async (t) => {
  const { kv, json, words, fails, command } = await operator(t);
  kv.bucket = async () => bucketOf(objects());
  assert.deepEqual(
    (await json("transactions", "fetch-backup")).backups.map(({ name }) => name),
    ["full-1"],
  );
  assert.match(await words("transactions", "fetch-backup"), /full-1 +1 +0/);
  for (const name of ["full-1", "full"]) {
    const file = join(scratch(t), "backup.jsonl");
    await words("transactions", "fetch-backup", name, file);
    assert.equal(readFileSync(file, "utf8"), HEADER + RECORD + TRAILER);
    await fails(["transactions", "fetch-backup", name, file], /already exists/);
  }
  await command(2, ["transactions", "fetch-backup", "full"]);
});

test("a backup that is unknown or changed is not copied", async (t) => {
  const { kv, fails } = await operator(t);
  const file = join(scratch(t), "backup.jsonl");
  const fetch = ["transactions", "fetch-backup", "full", file];
  const rows = [
    [(all) => all.delete("index.json"), /^the bucket has no complete backup `full`/],
    [(all) => all.set("index.json", "{"), /^`index.json` in the bucket is damaged$/],
    [(all) => all.delete(PARTS[1]), /^the bucket lacks `full-1\/00002-b`/],
    [(all) => all.set(PARTS[1], TRAILER), /was changed/],
  ];
  for (const [change, problem] of rows) {
    const contents = objects();
    change(contents);
    kv.bucket = async () => bucketOf(contents);
    await fails(fetch, problem);
    assert.ok(!existsSync(file));
  }
  kv.bucket = async () => null;
  await fails(fetch, /binds no bucket as `BACKUPS`/);
});

test("the local bucket is empty before the dashboard has made a backup", async (t) => {
  const { words } = await operator(t);
  assert.equal(await words("transactions", "fetch-backup"), "There is no complete backup yet.\n");
});

test("the bucket of a deployed dashboard is read through Cloudflare's API", async (t) => {
  const { env, account } = await cloudflare(t);
  account.objects = objects();
  const project = scratch(t);
  const bucket = `[[r2_buckets]]\nbinding = "BACKUPS"\nbucket_name = "backups"\njurisdiction = "eu"\n`;
  writeFileSync(join(project, DASHBOARD), `name = "dashboard"\n${bucket}`);
  const there = { ...tools, project, env: { ...tools.env, ...env } };
  const api = await Cloudflare.open(there, { deadline: 60_000 });
  const read = await deployedBucket(there, api);
  assert.equal(String(await read?.bytes(PARTS[0])), HEADER);
  assert.equal(await read?.bytes("other"), null);
  assert.ok(account.asked.includes(`GET /r2/buckets/backups/objects/${PARTS[0]}`));
  await read?.keep("new", Buffer.from([0xff, 0]));
  assert.deepEqual(account.objects.get("new"), Buffer.from([0xff, 0]));
  account.fault = () => ({ status: 403 });
  await assert.rejects(async () => read?.bytes(PARTS[0]), UserError);
  writeFileSync(join(project, DASHBOARD), 'name = "dashboard"\n');
  assert.equal(await deployedBucket(there, api), null);
});
