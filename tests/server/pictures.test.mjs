/**
 * Tests uploads of pictures on workerd: the dashboard stores what a form sends in R2, the service shows it, and the cron
 * deletes what no update has.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { tools } from "../e2e/script.mjs";
import { send } from "../e2e/worker.mjs";
import { PICTURES, startDashboard } from "./dashboard-worker.mjs";

const OPERATOR = "operator@small-hours.example";
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const MONTH = new Date().toISOString().slice(0, 7);
const DAY = new Date().toISOString().slice(0, 10);
const SERVICE = "service";
const SCRIPT = "<script>alert(1)</script>";

let dashboard, origin, service, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
  const configPath = join(folder, "wrangler.json");
  const config = {
    name: SERVICE,
    main: join(tools.root, "build", "worker.js"),
    compatibility_date: "2026-10-01",
    keep_names: false,
    kv_namespaces: [{ binding: "PLEDGES" }],
    r2_buckets: [PICTURES],
  };
  writeFileSync(configPath, JSON.stringify(config));
  dashboard = await startDashboard({
    main: join("tests", "server", "dashboard-stand-ins.mjs"),
    email: OPERATOR,
    vars: { OPERATORS: OPERATOR, SERVICE_ORIGIN: "https://pledges.example" },
    others: [{ configPath }],
    hasPictures: true,
  });
  ({ origin } = dashboard);
  service = dashboard.harness.getWorker(SERVICE);
});
after(async () => {
  await dashboard?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a chunk of a PNG. */
function chunk(name, content) {
  const named = Buffer.concat([Buffer.from(name), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** Returns a PNG of one green pixel, with further chunks. */
function png(...chunks) {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const pixels = deflateSync(Buffer.from([0, 44, 106, 74]));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    ...chunks,
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const page = (path) => send(origin, { method: "GET", path, headers: {} });
const idOfForm = async () => {
  const { text } = await page(`/updates?mode=live&month=${MONTH}`);
  return text.split('id="add"')[1].match(/name="operation" value="([^"]+)"/)[1];
};

/** Sends the form that adds an update, as a browser does. */
async function upload(file, headers = {}) {
  const form = new FormData();
  const fields = { mode: "live", month: MONTH, offering: "tree", stage: "done", date: DAY };
  const texts = { operation: await idOfForm(), "text-en": "Planted.", "picture-text": "Green" };
  for (const [name, value] of Object.entries({ ...fields, ...texts })) form.append(name, value);
  form.append("picture-file", new Blob([file], { type: "image/svg+xml" }), "a.html");
  const body = new Response(form);
  return send(origin, {
    method: "POST",
    path: "/updates",
    headers: { ...SAME_ORIGIN, "content-type": body.headers.get("content-type"), ...headers },
    body: Buffer.from(await body.arrayBuffer()),
  });
}

const names = async () => (await dashboard.pictures.list()).objects.map(({ key }) => key);

test("a form's picture is stored without its texts, and the service shows it", async () => {
  const plain = png();
  const answer = await upload(
    Buffer.concat([png(chunk("tEXt", Buffer.from(SCRIPT))), Buffer.from(SCRIPT)]),
  );
  assert.match(answer.text, /The draft was saved/);
  const name = `${createHash("sha256").update(plain).digest("hex")}.png`;
  assert.deepEqual(await names(), [name]);
  const path = `/pictures/${name}`;
  const [, update] = answer.text.match(/(upd_[0-9a-f]{20})/);
  assert.match(
    (await page(`/updates/${update}`)).text,
    new RegExp(`name="picture" value="${path}"`),
  );
  const preview = await page(`/updates/${update}/preview`);
  assert.ok(preview.text.includes(`<img src="https://pledges.example${path}"`), preview.text);

  const shown = await service.fetch(`https://pledges.example${path}`);
  assert.deepEqual(Buffer.from(await shown.arrayBuffer()), plain);
  const of = (header) => shown.headers.get(header);
  assert.deepEqual(
    [
      shown.status,
      of("content-type"),
      of("cache-control"),
      of("x-content-type-options"),
      of("etag"),
    ],
    [200, "image/png", "public, max-age=31536000, immutable", "nosniff", `"${name}"`],
  );
  assert.equal(of("content-security-policy"), "default-src 'none'; sandbox");
  const [head, known, other] = await Promise.all([
    service.fetch(`https://pledges.example${path}`, { method: "HEAD" }),
    service.fetch(`https://pledges.example${path}`, { headers: { "if-none-match": of("etag") } }),
    service.fetch(`https://pledges.example/pictures/${"0".repeat(64)}.png`),
  ]);
  assert.deepEqual([head.status, known.status, other.status], [200, 304, 404]);
  assert.deepEqual([await head.text(), await known.text()], ["", ""]);
  assert.equal(other.headers.get("cache-control"), "no-store");
});

test("what is not a picture, too large or from elsewhere is refused and not stored", async () => {
  const before = await names();
  const bomb = png();
  bomb.writeUInt32BE(100_000, 16);
  bomb.writeUInt32BE(100_000, 20);
  const rows = [
    [Buffer.from(SCRIPT), {}, 422, /not a JPEG, PNG or WebP/],
    [Buffer.from("<svg onload='alert(1)'/>"), {}, 422, /not a JPEG, PNG or WebP/],
    [Buffer.from("GIF89a=1//"), {}, 422, /not a JPEG, PNG or WebP/],
    [bomb, {}, 422, /at most 40 megapixels/],
    [png().subarray(0, 50), {}, 422, /cut off or damaged/],
    [Buffer.alloc(5 * 2 ** 20 + 1), {}, 422, /more than 5 MiB/],
    [Buffer.alloc(6 * 2 ** 20), {}, 413, /larger than/],
    [png(), { "sec-fetch-site": "cross-site" }, 403, /not sent by a page of this dashboard/],
    [png(), { "x-access": "eve@example.org" }, 403, /no role here/],
    [png(), { "x-r2": "throws" }, 422, /did not accept the picture/],
    [png(), { "x-r2": "hangs", "x-speed": "50" }, 422, /did not accept the picture/],
  ];
  for (const [file, headers, status, words] of rows) {
    const answer = await upload(file, headers);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, words);
  }
  assert.deepEqual(await names(), before);
});

test("a picture of the largest size passes, and many at once do no harm", async () => {
  const noise = Buffer.alloc(5 * 2 ** 20 - png().length - 12, 7);
  const large = png(chunk("iCCP", noise));
  assert.equal(large.length, 5 * 2 ** 20);
  const answers = await Promise.all(Array.from({ length: 6 }, () => upload(large)));
  assert.deepEqual(
    answers.filter(({ status }) => ![200, 503].includes(status)),
    [],
  );
  assert.ok(answers.some(({ text }) => text.includes("The draft was saved")));
  const name = `${createHash("sha256").update(large).digest("hex")}.png`;
  assert.equal((await service.fetch(`https://pledges.example/pictures/${name}`)).status, 200);
  assert.equal((await page("/updates")).status, 200);
});

test("the cron looks for pictures that no update has, and deletes none of today", async () => {
  const before = await names();
  await dashboard.scheduled();
  assert.deepEqual(await names(), before);
});
