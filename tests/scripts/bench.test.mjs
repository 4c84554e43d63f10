/** The benchmarks' arithmetic and reports. No figure of time is asserted here. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after } from "node:test";
import { KIND_NAMES, texts } from "../../proofs/bench/data.mjs";
import { figure, median, ratio, rotated } from "../../proofs/bench/numbers.mjs";
import { publish } from "../../proofs/bench/report.mjs";
import { report as serviceReport } from "../../proofs/bench/service/report.mjs";
import { report as validateReport } from "../../proofs/bench/validate/report.mjs";

const root = mkdtempSync(join(tmpdir(), "bench-"));
after(() => rmSync(root, { recursive: true }));

test("medians and ratios: a slow moment of both changes nothing, and everybody begins once", () => {
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(ratio([200, 20, 200], [100, 10, 100]), 2);
  assert.deepEqual(rotated(["a", "b", "c"], 1), ["b", "c", "a"]);
  assert.equal([0, 1.239, 45.67, 12_345].map(figure).join(" "), "0.00 1.24 45.7 12,300");
});

test("payloads are distinct, and the same in every run", () => {
  for (const kind of KIND_NAMES) {
    const made = texts(kind);
    assert.equal(new Set(made).size, made.length, kind);
    assert.deepEqual(texts(kind), made, kind);
  }
});

/** A value for each name. */
const each = (names, value) => Object.fromEntries(names.map((name) => [name, value]));

const OTHERS = ["ajv 8", "zod 4", "valibot"];
const ALL = ["impact-pledge", ...OTHERS];
const SERVICES = ["impact-pledge", "Hono + zod, tuned", "one KV call"];

/** The result of one run of `bench:validate`, with made-up figures: 2 µs ours, 3 µs every other. */
function validateRun() {
  const times = each(KIND_NAMES, { "impact-pledge": [2, 2], ...each(OTHERS, [3, 3]) });
  const browser = { values: times, bytes: times };
  const conformity = each(ALL, { lenient: 6, strict: 7, rows: 1_188 });
  const bytes = ALL.map((name) => ({ name, minified: 22_000, gzip: 10_000, brotli: 9_000 }));
  const starts = each(ALL, [4]);
  return { node: { ...browser, conformity }, browser, chromium: "1.2", bytes, starts };
}

/** The same of `bench:service`: 3,000 requests a second by ours, 2,000 by every other. */
function serviceRun() {
  const slices = (perSecond) => [{ perSecond, cpu: 100, p50: 5_000, p99: 9_000 }];
  return {
    upload: SERVICES.map((name) => ({ name, raw: 275_000, gzip: 113_000, brotli: 90_000 })),
    starts: {
      ...each(SERVICES, { answer: [45], create: [7] }),
      "one KV call": { answer: [45], create: [] },
    },
    load: {
      ...each(SERVICES, { GET: slices(2_000), "invalid (400)": slices(2_000) }),
      "impact-pledge": { GET: slices(3_000), "invalid (400)": slices(3_000) },
      "one KV call": { GET: slices(5_000), "invalid (400)": [] },
    },
    memory: each(SERVICES, 4e8),
  };
}

test("the tables of a run are whole, with ratios beside the raw figures, and leave the page's prose as it was", () => {
  for (const name of ["workerd", "wrangler", "hono", "zod", "ajv", "ajv-formats", "valibot"]) {
    const file = join(root, "node_modules", name, "package.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `{"version":"1.0.0"}`);
  }
  const page = join(root, "docs", "performance.md");
  mkdirSync(dirname(page));
  const empty = "Before.\n<!-- bench:PART -->\n<!-- /bench:PART -->\nAfter.\n";
  writeFileSync(page, empty.replaceAll("PART", "validate") + empty.replaceAll("PART", "service"));
  const place = { bench: root, root };
  publish(root, "validate", validateReport([validateRun(), validateRun()], place), true);
  publish(root, "service", serviceReport([serviceRun(), serviceRun()], place), true);
  const text = readFileSync(page, "utf8");
  assert.equal(text.match(/^Before\.$|^After\.$/gm)?.length, 4);
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
    "| 2.00 (2.00–2.00), 500,000 per second |",
    "| 3.00 (3.00–3.00), 1.50 × |",
    "| 2,000/s (2,000–2,000), 1.50 ×<br>100 µs (100–100), 1.00 ×<br>5.00 / 9.00 ms |",
    "| 5,000/s (5,000–5,000)<br>100 µs (100–100)<br>5.00 / 9.00 ms |",
  ])
    assert.ok(text.includes(cell), cell);
});

test("a page without the marks of a part is refused", () => {
  mkdirSync(join(root, "other", "docs"), { recursive: true });
  assert.throws(() => publish(join(root, "other"), "validate", "| |", true), /lacks the tables/);
});
