/** The benchmarks' arithmetic, inputs and rivals. No figure of time is asserted here. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { KINDS, texts } from "../../proofs/bench/data.mjs";
import { figure, median, quantile, ratio, rotated } from "../../proofs/bench/numbers.mjs";
import { publish } from "../../proofs/bench/report.mjs";
import { serviceReport } from "../../proofs/bench/service/report.mjs";
import {
  callerOf,
  makeTransaction,
  toRetrieved,
} from "../../proofs/bench/service/workers/hono/domain.mjs";
import { duel } from "../../proofs/bench/validate/duel.mjs";
import { validateReport } from "../../proofs/bench/validate/report.mjs";

test("medians and quantiles lie where they should", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(quantile([10, 20, 30, 40, 50], 0.75), 40);
  assert.equal(quantile([7], 0.99), 7);
});

test("a ratio compares round by round: a slow moment of both changes nothing", () => {
  assert.equal(ratio([200, 20, 200], [100, 10, 100]), 2);
});

test("everybody begins once", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((round) => rotated(["a", "b", "c"], round)[0]),
    ["a", "b", "c", "a"],
  );
  assert.deepEqual(rotated(["a", "b", "c"], 1), ["b", "c", "a"]);
});

test("figures have three digits", () => {
  const rows = [
    [0, "0.00"],
    [0.1234, "0.12"],
    [1.239, "1.24"],
    [45.67, "45.7"],
    [999.4, "999"],
    [12_345, "12,300"],
    [9_999_999, "10,000,000"],
    [null, "–"],
  ];
  for (const [value, expected] of rows) assert.equal(figure(value), expected);
});

test("payloads are distinct, the same in every run, and have the pledges that they are to have", () => {
  for (const [kind, { pledges, count }] of Object.entries(KINDS)) {
    const made = texts(kind);
    assert.equal(new Set(made).size, count, kind);
    assert.deepEqual(texts(kind), made, kind);
    for (const text of made.slice(0, 3))
      assert.equal(JSON.parse(text).pledges.length, pledges, kind);
  }
});

test("a duel gives every competitor as many rounds, on all inputs, and reads every problem", async () => {
  const seen = { a: new Set(), b: new Set() };
  let read = 0;
  const competitor = (name) => ({
    name,
    check(input) {
      seen[name].add(input);
      return [input, input];
    },
    touch() {
      read += 1;
      return 1;
    },
  });
  const times = await duel([competitor("a"), competitor("b")], [1, 2, 3], {
    rounds: 4,
    batchMs: 1,
  });
  assert.deepEqual(
    Object.entries(times).map(([name, { length }]) => [name, length]),
    [
      ["a", 4],
      ["b", 4],
    ],
  );
  assert.deepEqual(
    Object.values(seen).map(({ size }) => size),
    [3, 3],
  );
  assert.ok(read > 0);
});

const each = (names, value) => Object.fromEntries(names.map((name) => [name, value]));

/** The result of one run of `bench:validate`, with made-up figures: 2 µs ours, 3 µs every other. */
function validateRunOf() {
  const others = ["ajv 8", "zod 4", "zod/mini", "valibot", "typebox", "arktype"];
  const times = (names) =>
    each(Object.keys(KINDS), { "impact-pledge": [2, 2], ...each(names, [3, 3]) });
  const place = {
    values: times(others),
    bytes: times(["JSON.parse + ajv 8", "JSON.parse + zod 4", "JSON.parse alone"]),
    limits: { "one call": [0.5] },
  };
  const found = each(
    ["impact-pledge", ...others],
    each(Object.keys(KINDS), { places: 5, problems: 0 }),
  );
  const conformity = each(["impact-pledge", ...others], { lenient: 6, strict: 7, rows: 1_188 });
  const bundled = ["impact-pledge", "ajv 8, standalone", ...others];
  const bytes = bundled.map((name) => ({ name, minified: 22_000, gzip: 10_000, brotli: 9_000 }));
  const growth = ["ours", "ajv"].flatMap((who) =>
    ["valid", "problems"].flatMap((what) =>
      [1, 10, 100_000].map((size) => ({
        who,
        what,
        size,
        microseconds: size,
        bytes: 4e6,
        wasm: 1e6,
      })),
    ),
  );
  return {
    node: { ...place, found, conformity },
    browser: place,
    chromium: "1.2",
    bytes,
    starts: each(bundled, [4]),
    growth,
  };
}

/** The same of `bench:service`; a limit has not every kind of request, and was not soaked. */
function serviceRunOf() {
  const names = [
    "impact-pledge",
    "Hono + zod, as usual",
    "Hono + zod, tuned",
    "one KV call",
    "empty Worker",
  ];
  const kinds = [
    "POST small",
    "POST of 100 pledges",
    "GET small",
    "GET of 100 pledges",
    "unknown key (401)",
    "invalid (400)",
    "too large (413)",
  ];
  const slices = (name) => [
    { perSecond: name === "impact-pledge" ? 3_000 : 2_000, cpu: 100, p50: 5_000, p99: 9_000 },
  ];
  const load = Object.fromEntries(
    names.map((name, index) => [
      name,
      Object.fromEntries(
        kinds.map((kind) => [kind, index > 2 && kind !== "GET small" ? [] : slices(name)]),
      ),
    ]),
  );
  const samples = [0, 10, 20].map((requests) => ({
    requests,
    resident: 9e7,
    heap: 5e6,
    wasm: 1e6,
    kv: 2e6,
  }));
  const three = names.slice(0, 3);
  return {
    uploads: three.map((name) => ({ name, answered: 20, of: 20 })),
    upload: names.map((name) => ({ name, raw: 275_000, gzip: 113_000, brotli: 91_000 })),
    starts: names.map((name) => ({
      name,
      answer: [45],
      create: [three.includes(name) ? 7 : null],
    })),
    load,
    memory: three.map((name) => ({ name, bytes: 4e8 })),
    soaks: names.slice(0, 4).map((name) => ({ name, samples })),
  };
}

function withVersions(root, names) {
  for (const name of names) {
    const file = join(root, "node_modules", name, "package.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `{"version":"1.0.0"}`);
  }
}

test("the tables of a run are whole, and leave the page within 120 lines with its prose as it was", () => {
  const root = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    withVersions(root, [
      "workerd",
      "wrangler",
      "hono",
      "@hono/zod-validator",
      "zod",
      "ajv",
      "ajv-formats",
      "valibot",
      "typebox",
      "arktype",
    ]);
    const page = join(root, "docs", "performance.md");
    cpSync(join(import.meta.dirname, "..", "..", "docs"), dirname(page), { recursive: true });
    const prose = () =>
      readFileSync(page, "utf8").replaceAll(/<!-- bench:(\w+) -->.*?<!-- \/bench:\1 -->/gs, "");
    const before = prose();
    const place = { bench: root, root, node: "22.0.0", wrk: "4.1.0" };
    publish(root, "validate", validateReport([validateRunOf(), validateRunOf()], place), true);
    publish(root, "service", serviceReport([serviceRunOf(), serviceRunOf()], place), true);
    const text = readFileSync(page, "utf8");
    assert.equal(prose(), before);
    assert.ok(text.trimEnd().split("\n").length <= 120);
    assert.doesNotMatch(text, /NaN|undefined|null|\[object/);
    for (const rows of text.match(/(^\|.*\n)+/gm))
      assert.equal(
        new Set(
          rows
            .trimEnd()
            .split("\n")
            .map((row) => row.split(" | ").length),
        ).size,
        1,
        rows,
      );
    for (const cell of [
      "2.00 (2.00–2.00), 500,000 per second",
      "3.00 (3.00–3.00), 1.50 ×",
      "2,000/s (2,000–2,000), 1.50 ×<br>100 µs (100–100), 1.00 ×<br>5.00 / 9.00 ms",
      "90.0 / 90.0 / 90.0",
    ])
      assert.ok(text.includes(cell), cell);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("the rival's charges are exact too", () => {
  const catalogue = {
    currencyCode: "USD",
    unitPrices: { tree: "0.50", odd: "0.005", big: "1.25" },
  };
  const charge = (...amounts) => {
    const request = {
      reference: "r",
      recipient: { email: "a@example.org" },
      pledges: amounts.map(([amount, offeringId]) => ({ impact: { amount, offeringId } })),
    };
    return makeTransaction(request, { origin: "http://localhost", isLive: false, catalogue })
      .transaction.charge.amount;
  };
  assert.equal(charge([3, "tree"]), "1.50");
  assert.equal(charge([0.1, "tree"], [0.2, "big"]), "0.30");
  assert.equal(charge([1, "odd"]), "0.01");
  assert.equal(charge([1, "unlisted"]), "0.00");
  assert.equal(charge([1e21, "big"]), "1250000000000000000000.00");
});

test("the rival's records have the contract's shape", () => {
  const request = {
    reference: "r",
    recipient: { email: "a@example.org" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  };
  const { transaction } = makeTransaction(request, {
    origin: "http://localhost",
    isLive: true,
    catalogue: null,
  });
  const retrieved = toRetrieved(transaction);
  assert.equal(retrieved.pledges[0].details.length, 1);
  assert.deepEqual(retrieved.pledges[0].recipient, {
    email: "a@example.org",
    firstName: null,
    name: null,
  });
  assert.deepEqual(Object.keys(retrieved).sort(), [
    "charge",
    "createdAt",
    "isLive",
    "notifications",
    "pledges",
    "reference",
    "timelineUrl",
    "trigger",
  ]);
  assert.equal(callerOf({ mode: "test", level: "team", unitIds: ["unit_a"] }, "unit_b"), undefined);
});
