/** Tests the arithmetic and the reports of the benchmarks. Does not assert any measured time. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after } from "node:test";
import { KIND_NAMES, texts } from "../proofs/bench/data.mjs";
import {
  compared,
  figure,
  median,
  noise,
  quantile,
  ratio,
  rotated,
} from "../proofs/bench/numbers.mjs";
import { publish } from "../proofs/bench/report.mjs";
import { report as serviceReport } from "../proofs/bench/service/report.mjs";
import { KINDS, kindsOf, recordsOf, withoutRecords } from "../proofs/bench/service/requests.mjs";
import { report as sizesReport } from "../proofs/bench/sizes/report.mjs";
import { report as validateReport } from "../proofs/bench/validate/report.mjs";
import { report as waitsReport } from "../proofs/bench/waits/report.mjs";

const root = mkdtempSync(join(tmpdir(), "bench-"));
after(() => rmSync(root, { recursive: true }));

test("medians and ratios: a slow moment of both changes nothing, and each begins once", () => {
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.deepEqual(
    [0, 0.5, 0.99, 1].map((share) => quantile([4, 1, 2, 3], share)),
    [1, 2, 4, 4],
  );
  assert.equal(ratio([200, 20, 200], [100, 10, 100]), 2);
  assert.deepEqual(rotated(["a", "b", "c"], 1), ["b", "c", "a"]);
  assert.equal([0, 1.239, 45.67, 12_345].map(figure).join(" "), "0.00 1.24 45.7 12,300");
});

test("noise is the difference between figures of one build, and a smaller difference counts as level", () => {
  assert.equal(noise([5, 5, 5], [5, 5, 5]), 1);
  assert.equal(noise([10, 10, 10], [11, 11, 11]), 1.1, "a drift between the two is noise as well");
  assert.equal(compared([21], [20], 1.06), "level");
  assert.equal(compared([20], [21], 1.06), "level");
  assert.equal(compared([30], [20], 1.06), "1.50 ×");
});

test("every kind of request has distinct requests, and is chosen by its name", async () => {
  assert.deepEqual(kindsOf("get SMALL, get small,paid,401")?.map(nameOf), [
    "GET small",
    "GET small, paid",
    "401",
  ]);
  assert.equal(kindsOf("GET small,GET"), null);
  const stored = new Map();
  const records = {
    read: async (name) => stored.get(name),
    write: async (entry) => void stored.set(entry.key, entry),
  };
  const service = withoutRecords({ send: async () => ({ status: 200, text: "" }), records });
  for (const { name, make } of KINDS) {
    const requests = await make(service);
    assert.equal(new Set(requests.map((it) => JSON.stringify(it))).size, requests.length, name);
    const read = await recordsOf(records, requests);
    assert.equal(read.length, name.startsWith("GET") ? requests.length : 0, name);
    assert.ok(
      read.every(({ key, value }) => stored.get(key).value === value && value),
      name,
    );
  }
});

const nameOf = ({ name }) => name;

test("payloads are distinct, and the same in every run", () => {
  for (const kind of KIND_NAMES) {
    const made = texts(kind);
    assert.equal(new Set(made).size, made.length, kind);
    assert.deepEqual(texts(kind), made, kind);
  }
});

/** Returns an object with the same value for each name. */
const each = (names, value) => Object.fromEntries(names.map((name) => [name, value]));

const OTHERS = ["ajv 8", "zod 4", "valibot"];
const ALL = ["impact-pledge", ...OTHERS];

/**
 * Returns a made-up result of `npm run bench:validate`: 2 µs for this package, 3 µs for every other one.
 */
function validateRun() {
  const times = each(KIND_NAMES, { "impact-pledge": [2, 2], ...each(OTHERS, [3, 3]) });
  const browser = { values: times, bytes: times };
  const conformity = each(ALL, { lenient: 6, strict: 7, rows: 1_188 });
  const bytes = ALL.map((name) => ({ name, minified: 22_000, gzip: 10_000, brotli: 9_000 }));
  const starts = each(ALL, [4]);
  return { node: { ...browser, conformity }, browser, chromium: "1.2", bytes, starts };
}

/**
 * Returns a made-up result of `bench:service`: about 200 µs for this service, 300 µs for every other one.
 * `safe` and `kv` have no figures for refused requests.
 */
function serviceRun() {
  const slices = (...cpu) => cpu.map((cpu) => ({ cpu, perSecond: 1e6 / cpu, memory: 4e8 }));
  const [ours, others] = [slices(196, 200, 204), slices(300, 300, 300)];
  const both = (slices) => ({ "POST of 100": slices, 401: slices });
  const start = [{ answer: 45, create: 14 }];
  const keys = ["ours", "twin", "hono", "safe", "kv", "empty"];
  return {
    kinds: ["POST of 100", "401"],
    load: {
      ...each(keys, both(others)),
      ours: both(ours),
      twin: both(ours),
      safe: { "POST of 100": slices(250, 250, 250), 401: [] },
      kv: { "POST of 100": slices(201, 201, 201), 401: [] },
    },
    starts: each([...keys, "eager"], start),
    upload: each(keys, { raw: 275_000, gzip: 113_000, brotli: 90_000 }),
  };
}

/** Returns a made-up result of `bench:sizes`. */
const sizesRun = () => [
  { use: "a client of a service", name: "impact-pledge", minified: 96_000, brotli: 34_000 },
  { use: "a client of a service", name: "stripe-node", minified: 243_000, brotli: 27_000 },
  { use: "a check of a value", name: "impact-pledge", minified: 21_000, brotli: 8_000 },
];

/** Returns a made-up result of `bench:waits`. */
const waitsRun = () => {
  const answers = (waits, ...times) => times.map((milliseconds) => ({ waits, milliseconds }));
  const each = { cold: answers(3, 16, 15, 19), warm: answers(1, 6, 5, 9) };
  return { create: { 5: each, 20: each } };
};

const RIVALS = ["typia", "typebox", "@sinclair/typebox", "sury", "arktype", "valibot"];
const MEASURED = ["workerd", "wrangler", "hono", "zod", "ajv", "ajv-formats", ...RIVALS];
const SIZED = ["stripe", "openai", "impact-pledge"];
const PARTS = ["Values", "Service", "Waits", "Between", "Sizes"];

test("the tables of a run are complete, with ratios beside our figures, and replace no other section of the page", () => {
  for (const name of [...MEASURED, ...SIZED]) {
    const file = join(root, "node_modules", name, "package.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `{"version":"1.0.0"}`);
  }
  const page = join(root, "docs", "performance.md");
  mkdirSync(dirname(page));
  writeFileSync(
    page,
    "# Page\n\n## Values\n\nOld.\n\n## Service\n\n## Waits\n\n## Between\n\nKept.\n\n## Sizes\n",
  );
  const place = { bench: root, root };
  publish(root, "validate", validateReport([validateRun(), validateRun()], place), true);
  publish(root, "service", serviceReport([serviceRun(), serviceRun()], place), true);
  publish(root, "waits", waitsReport([waitsRun()], place), true);
  publish(root, "sizes", sizesReport([sizesRun()], place), true);
  const text = readFileSync(page, "utf8");
  const unpadded = text.replaceAll(/ +/g, " ");
  assert.deepEqual(text.match(/^#.*$/gm), ["# Page", ...PARTS.map((part) => `## ${part}`)]);
  assert.match(text, /\n\n## Between\n\nKept\.\n\n## Sizes\n\nMinified/);
  assert.doesNotMatch(text, /Old\.|\n\n\n/);
  assert.doesNotMatch(text, /NaN|undefined|null|\[object/);
  for (const rows of text.match(/(^\|.*\n)+/gm) ?? [])
    assert.equal(
      new Set(
        rows
          .trimEnd()
          .split("\n")
          .map((row) => row.split(" | ").length),
      ).size,
      1,
    );
  for (const cell of [
    "| A value | impact-pledge, µs | ajv 8 |",
    "| minimal (required only) | 2.00 (2.00–2.00), 2.00 (2.00–2.00) | 1.50 ×, 1.50 × | 1.50 ×, 1.50 × |",
    "| small, addresses of shops | 2.00 (2.00–2.00), 2.00 (2.00–2.00) | 1.50 ×, 1.50 × |",
    "| 401 | 200 | ± 4 % | 300, 1.50 × | – | – | 300, 1.50 × | 5,000 / 3,330 |",
    "| POST of 100 | 200 | ± 4 % | 300, 1.50 × | 250, 1.25 × | 201, level |",
    "| a create as the first request, ms | 14.0 (14.0–14.0) |",
    "| memory after POST of 100, MB | 400 (400–400) | – |",
    "| create | 3 / 1 | 16.0 / 19.0 | 6.00 / 9.00 | 16.0 / 19.0 | 6.00 / 9.00 |",
    "| a client of a service | 34,000 (96,000) | 27,000 (243,000) |",
    "| a check of a value | 8,000 (21,000) | – |",
  ])
    assert.ok(unpadded.includes(cell), cell);
  assert.ok(text.split("\n").every((line) => line.startsWith("|") || line.length <= 120));
});

test("a page without the section of a part is refused", () => {
  mkdirSync(join(root, "other", "docs"), { recursive: true });
  assert.throws(() => publish(join(root, "other"), "validate", "| |", true), /lacks the section/);
});
