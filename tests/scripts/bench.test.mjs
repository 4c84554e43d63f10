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

const ROWS = [
  ["a median lies in the middle", median([3, 1, 2]), 2],
  ["and between two", median([4, 1, 2, 3]), 2.5],
  ["a slow moment of both changes no ratio", ratio([200, 20, 200], [100, 10, 100]), 2],
  [
    "everybody begins once",
    [0, 1, 2].map((round) => rotated("abc".split(""), round)[0]),
    [..."abc"],
  ],
  [
    "a figure has three digits",
    [0, 1.239, 45.67, 12_345].map(figure),
    ["0.00", "1.24", "45.7", "12,300"],
  ],
];

for (const [name, seen, expected] of ROWS) test(name, () => assert.deepEqual(seen, expected));

test("payloads are distinct, and the same in every run", () => {
  for (const kind of KIND_NAMES) {
    const made = texts(kind);
    assert.equal(new Set(made).size, made.length, kind);
    assert.deepEqual(texts(kind), made, kind);
  }
});

/** A value for each name. */
const each = (names, value) => Object.fromEntries(names.map((name) => [name, value]));

/** The result of one run of `bench:validate`, with made-up figures: 2 µs ours, 3 µs every other. */
const OTHERS = ["ajv 8", "zod 4", "valibot"];
const TIMES = each(KIND_NAMES, { "impact-pledge": [2, 2], ...each(OTHERS, [3, 3]) });
const VALIDATE = {
  node: {
    values: TIMES,
    bytes: TIMES,
    conformity: each(["impact-pledge", ...OTHERS], { lenient: 6, strict: 7, rows: 1_188 }),
  },
  browser: { values: TIMES, bytes: TIMES },
  chromium: "1.2",
  bytes: ["impact-pledge", "ajv 8, standalone", ...OTHERS].map((name) => ({
    name,
    minified: 22_000,
    gzip: 10_000,
    brotli: 9_000,
  })),
  starts: each(["impact-pledge", "ajv 8, standalone", ...OTHERS], [4]),
};

/** The same of `bench:service`; a limit has not every kind of request, and makes no create. */
const SERVICES = { "impact-pledge": 3_000, "Hono + zod, tuned": 2_000, "one KV call": 5_000 };
const SERVICE = {
  upload: Object.keys(SERVICES).map((name) => ({ name, raw: 275_000, gzip: 113_000, brotli: 9e4 })),
  starts: Object.fromEntries(
    Object.keys(SERVICES).map((name) => [
      name,
      { answer: [45], create: name === "one KV call" ? [] : [7] },
    ]),
  ),
  load: Object.fromEntries(
    Object.entries(SERVICES).map(([name, perSecond]) => {
      const slice = { perSecond, cpu: 100, p50: 5_000, p99: 9_000 };
      return [
        name,
        { "GET small": [slice], "invalid (400)": name === "one KV call" ? [] : [slice] },
      ];
    }),
  ),
  memory: each(Object.keys(SERVICES), 4e8),
};

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
  publish(root, "validate", validateReport([VALIDATE, VALIDATE], place), true);
  publish(root, "service", serviceReport([SERVICE, SERVICE], place), true);
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
