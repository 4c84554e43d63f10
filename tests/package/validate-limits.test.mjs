/**
 * Tests how many issues are returned. Also tests that hostile input costs linear time and bounded memory.
 * `HOSTILE_COUNT` sets the size of this input.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  createPledgeTransactionSchema,
  validate,
  validateAt,
  validateBytes,
} from "../../pkg/validate.js";
import { HOSTILE, encode, good, unknown, wrongPledges } from "./hostile.mjs";

const codes = (issues) => [...new Set(issues.map(({ code }) => code))];
const { validate: standard } = createPledgeTransactionSchema["~standard"];

/** The package's functions that return the issues of a request, by name. */
const WAYS = {
  validate: (value, options) => validate(value, options),
  "validate, serialized": (value, options) => validate({ toJSON: () => value }, options),
  validateBytes: (value, options) => validateBytes(encode(value), options),
  "validateAt the request": (value, options) => validateAt("", value, options),
  schema: (value, libraryOptions) => standard(value, { libraryOptions }).issues ?? [],
};

describe("maxIssues", () => {
  for (const [name, issuesOf] of Object.entries(WAYS)) {
    test(`${name}: 1,000 issues, or the caller's limit, and one that counts the others`, () => {
      assert.deepEqual(codes(issuesOf(wrongPledges(1_000))), ["invalid_type"]);
      const issues = issuesOf(wrongPledges(1_235));
      assert.equal(issues.length, 1_001);
      assert.deepEqual(issues[999].path, ["pledges", 999]);
      assert.deepEqual(issues[1_000], {
        path: [],
        pointer: "",
        code: "more_issues",
        message: "has more problems than these: another 235",
        meta: {},
        count: 235,
      });
      assert.equal(issuesOf(wrongPledges(5_000), { maxIssues: 6_000 }).length, 5_000);
      assert.deepEqual(issuesOf(good(), { maxIssues: 1 }), []);
      for (const maxIssues of [0, -1, 1.5, NaN, Infinity, "5", null, {}])
        assert.throws(() => issuesOf(good(), { maxIssues }), TypeError, String(maxIssues));
      assert.deepEqual(issuesOf(good(), { maxIssues: undefined }), []);
    });
  }

  test("keeps the first in the schema's order, whatever the order of the JSON", () => {
    const value = {
      ...unknown(5_000),
      notifications: Array(600).fill("Pigeon"),
      trigger: 1,
      pledges: Array(3_000).fill({ detail: 1, impact: 2 }),
      recipient: 3,
    };
    const all = validate(value, { maxIssues: 20_000 });
    assert.equal(all.length, 2 + 6_000 + 1 + 601 + 5_000);
    for (const [name, issuesOf] of Object.entries(WAYS)) {
      assert.deepEqual(issuesOf(value, { maxIssues: all.length }), all, name);
      assert.deepEqual(issuesOf(value, { maxIssues: 1 }), all.slice(0, 1), name);
      for (const maxIssues of [2, 3, 1_000, 6_500, 7_000]) {
        const issues = issuesOf(value, { maxIssues });
        assert.deepEqual(issues.slice(0, -1), all.slice(0, maxIssues), name);
        assert.equal(issues.at(-1).count, all.length - maxIssues);
      }
    }
  });

  test("1: `validate` reads nothing after the first issue", () => {
    const pledge = { impact: { amount: 1, offeringId: "tree" } };
    const unread = {
      get impact() {
        return assert.fail("read");
      },
    };
    for (const wrong of [{ impact: { amount: 0, offeringId: "tree" } }, { ...pledge, extra: 1 }]) {
      const value = { ...good(), pledges: [pledge, wrong, unread] };
      const [issue, ...more] = validate(value, { maxIssues: 1 });
      assert.deepEqual([issue.path.slice(0, 2), more], [["pledges", 1], []]);
    }
    assert.deepEqual(codes(validate({ toJSON: () => ({}) }, { maxIssues: 1 })), ["required"]);
  });

  test("limits the issues of one value with validateAt", () => {
    const issues = validateAt("/pledges/3/detail", unknown(9), { maxIssues: 2 });
    assert.deepEqual(
      issues.map(({ pointer, count }) => [pointer, count]),
      [
        ["/pledges/3/detail/extra0", undefined],
        ["/pledges/3/detail/extra1", undefined],
        ["", 7],
      ],
    );
  });

  test("translates the issue that counts the others, too", () => {
    const messages = ({ count }) => count && `und ${count} weitere`;
    const issues = validate(wrongPledges(12), { maxIssues: 10, messages });
    assert.equal(issues.at(-1).message, "und 2 weitere");
  });

  test("valid numbers cause no issue, wherever the text is cut", () => {
    const pledges = Array.from(
      { length: 3_000 },
      (_, i) => `{"impact":{"amount":${i % 3 === 0 ? "1e999" : "1e2"},"offeringId":"t"}}`,
    );
    const json = `{"pledges":[${pledges}],"recipient":{"email":"a@b.c"},"reference":"r"}`;
    const bytes = new TextEncoder().encode(json);
    assert.deepEqual(codes(validateBytes(bytes, { maxIssues: 1_000 })), ["not_finite"]);
    const issues = validateBytes(bytes, { maxIssues: 10 });
    assert.deepEqual(issues[9].path, ["pledges", 27, "impact", "amount"]);
    assert.equal(issues[10].count, 990);
  });
});

const count = Number(process.env.HOSTILE_COUNT ?? 60_000);

/**
 * The test measures the processor time of this process, because other programs do not change it. If the work
 * grew with the square of the size, the test would take minutes. If every issue were kept, the test would need
 * a gigabyte of memory.
 */
test(`${count} parts of all sorts that grow, in linear time and little memory`, () => {
  const heap = `--max-old-space-size=${Math.max(256, Math.ceil(count / 500))}`;
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [heap, join(import.meta.dirname, "hostile.mjs"), `${count}`],
    { encoding: "utf8" },
  );
  assert.deepEqual([status, signal, stderr], [0, null, ""], stdout);
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [, [cpuMs]] = rows.pop();
  assert.ok(cpuMs < Math.max(60_000, count), `${cpuMs} ms`);
  assert.deepEqual(rows.pop(), ["problems in JSON", [count * 20 - 997]]);
  assert.deepEqual(
    rows.map(([name]) => name),
    Object.keys(HOSTILE),
  );
  for (const [name, counts] of rows)
    assert.ok(new Set(counts).size === 1 && counts[0] <= 1_001, `${name}: ${counts}`);
});

describe("lengths that no array has", () => {
  const lying = (length, item) =>
    new Proxy([], {
      get: (_target, name) => (name === "length" ? length : item(name)),
      has: () => true,
    });
  const [pledge] = good().pledges;
  const goodItem = (name) => (name === "toJSON" ? undefined : pledge);
  const throwing = { valueOf: () => assert.fail("no") };

  test("are unreadable, and cost no time", () => {
    const unreadable = [new Array(2 ** 31), lying(2 ** 31, goodItem), lying(2 ** 31, () => {})];
    unreadable.push(...[Infinity, throwing, Symbol("no"), 5n].map((end) => lying(end, goodItem)));
    for (const pledges of unreadable) {
      const issues = validate({ ...good(), pledges, trigger: 1 });
      assert.deepEqual(
        issues.map(({ pointer, code }) => `${pointer} ${code}`),
        ["/pledges unreadable", "/trigger invalid_type"],
      );
      assert.deepEqual(codes(validateAt("/pledges", pledges)), ["unreadable"]);
    }
  });

  test("are read as JavaScript reads them", () => {
    for (const length of [NaN, -5, "0", null, undefined])
      assert.deepEqual(
        codes(validate({ ...good(), pledges: lying(length, goodItem) })),
        ["too_few_items"],
        String(length),
      );
    assert.deepEqual(validate({ ...good(), pledges: lying(1.5, goodItem) }), []);
  });
});

test("more text than an engine has room for: a text and a name, six times as long as JSON", () => {
  const long = "\0".repeat(45_000_000);
  const pledges = [{ impact: { amount: 1, offeringId: long } }, { [long]: 1 }];
  const issues = validate({ ...good(), trigger: { externalUrl: "\ud800" }, pledges });
  assert.ok(codes(issues).includes("unreadable"));
  assert.deepEqual(validate(good()), []);
});

test("more JSON than WebAssembly has memory for is unreadable", () => {
  for (const length of [2 ** 29 + 1, 1_000_000_000, 2 ** 32])
    assert.deepEqual(codes(validateBytes(new Uint8Array(length))), ["unreadable"]);
});
