/**
 * How many issues are returned, and that hostile input costs linear time and bounded memory. `HOSTILE_COUNT` chooses another
 * number of its parts; the time that it may take shrinks with it.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { validate, validateAt, validateBytes } from "../../pkg/validate.js";
import { HOSTILE, WAYS, encode, good, wrongPledges } from "./hostile.mjs";

const codes = (issues) => [...new Set(issues.map(({ code }) => code))];

describe("maxIssues", () => {
  for (const [name, issuesOf] of Object.entries(WAYS)) {
    test(`${name}: 1,000 issues, and one that counts the others`, () => {
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
    });

    test(`${name}: the caller's own number`, () => {
      const value = { ...wrongPledges(5), a: 1, recipient: { email: "x" } };
      const all = issuesOf(value);
      assert.equal(all.length, 7);
      for (let most = 1; most < 7; most += 1) {
        const issues = issuesOf(value, { maxIssues: most });
        assert.deepEqual(issues.slice(0, most), all.slice(0, most));
        assert.deepEqual(
          [issues.length, issues[most].code, issues[most].count],
          [most + 1, "more_issues", 7 - most],
        );
      }
      assert.deepEqual(issuesOf(value, { maxIssues: 7 }), all);
      assert.equal(issuesOf(wrongPledges(5_000), { maxIssues: 6_000 }).length, 5_000);
      assert.deepEqual(issuesOf(good(), { maxIssues: 1 }), []);
    });

    test(`${name}: nothing but a whole number`, () => {
      for (const maxIssues of [0, -1, 1.5, NaN, Infinity, "5", null, {}])
        assert.throws(() => issuesOf(good(), { maxIssues }), TypeError, String(maxIssues));
      assert.deepEqual(issuesOf(good(), { maxIssues: undefined }), []);
    });
  }

  test("of one value with validateAt", () => {
    const issues = validateAt(
      "/pledges/3/detail",
      Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`extra${i}`, 1])),
      { maxIssues: 2 },
    );
    assert.deepEqual(
      issues.map(({ pointer, count }) => [pointer, count]),
      [
        ["/pledges/3/detail/extra0", undefined],
        ["/pledges/3/detail/extra1", undefined],
        ["", 7],
      ],
    );
  });

  test("translates the last one, too", () => {
    const messages = ({ code, count }) =>
      code === "more_issues" ? `und ${count} weitere` : undefined;
    assert.equal(
      validate(wrongPledges(12), { maxIssues: 10, messages }).at(-1).message,
      "und 2 weitere",
    );
  });

  test("numbers that turn out to be fine are none, wherever they are cut", () => {
    const pledges = Array.from(
      { length: 3_000 },
      (_, i) => `{"impact":{"amount":${i % 3 === 0 ? "1e999" : "1e2"},"offeringId":"t"}}`,
    );
    const json = new TextEncoder().encode(
      `{"pledges":[${pledges}],"recipient":{"email":"a@b.c"},"reference":"r"}`,
    );
    assert.deepEqual(codes(validateBytes(json, { maxIssues: 1_000 })), ["not_finite"]);
    const issues = validateBytes(json, { maxIssues: 10 });
    assert.deepEqual(
      [issues[9].path, issues[10].count],
      [["pledges", 27, "impact", "amount"], 990],
    );
  });

  test("the first in the schema's order, whatever the order of the JSON", () => {
    const extra = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`extra${i}`, 1]));
    const value = {
      ...extra,
      notifications: Array(600).fill("Pigeon"),
      trigger: 1,
      pledges: Array(3_000).fill({ detail: 1, impact: 2 }),
      recipient: 3,
    };
    const all = validate(value, { maxIssues: 20_000 });
    assert.deepEqual(all, validateBytes(encode(value), { maxIssues: 20_000 }));
    assert.equal(all.length, 2 + 6_000 + 1 + 601 + 5_000);
    for (const maxIssues of [1, 2, 3, 1_000, 6_500, 7_000]) {
      for (const issuesOf of Object.values(WAYS)) {
        const issues = issuesOf(value, { maxIssues });
        assert.deepEqual(issues.slice(0, -1), all.slice(0, maxIssues));
        assert.equal(issues.at(-1).count, all.length - maxIssues);
      }
    }
  });
});

const QUICK = ["validate", "validate, serialized", "validateBytes"];
/** JSON.stringify's own stack ends at values that deep. */
const DEEP = "a deep member";

const count = Number(process.env.HOSTILE_COUNT ?? 200_000);
const timeout = 60_000 * Math.max(0.25, count / 200_000);

describe(`${count.toLocaleString("en-US")} of`, () => {
  for (const name of Object.keys(HOSTILE)) {
    test(name, () => {
      const { status, signal, stdout, stderr } = inProcess(`
        const value = HOSTILE[${JSON.stringify(name)}](${count});
        for (const way of ${JSON.stringify(QUICK.slice(0, name === DEEP ? 2 : 3))}) console.log(way, WAYS[way](value).length);`);
      assert.deepEqual([status, signal, stderr], [0, null, ""]);
      const counts = stdout.match(/\d+$/gm).map(Number);
      assert.ok(
        counts.every((issues) => issues <= 1_001 && issues === counts[0]),
        stdout,
      );
    });
  }

  test("problems in JSON, in little memory", () => {
    const { status, stderr, stdout } = inProcess(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: code with a template of its own
      'console.log(validateBytes(new TextEncoder().encode(`{"pledges":[${"0,".repeat(4_000_000)}0]}`)).at(-1).count);',
      ["--max-old-space-size=96"],
    );
    assert.deepEqual([status, stderr, stdout], [0, "", "3999003\n"]);
  });
});

/**
 * The whole number takes minutes in quadratic time, and a gigabyte where each problem is an issue.
 */
function inProcess(code, flags = []) {
  const file = JSON.stringify(join(import.meta.dirname, "hostile.mjs"));
  const pkg = JSON.stringify(join(import.meta.dirname, "..", "..", "pkg", "validate.js"));
  const script = `const { HOSTILE, WAYS } = await import(${file}); const { validateBytes } = await import(${pkg});\n${code}`;
  return spawnSync(process.execPath, [...flags, "--input-type=module", "--eval", script], {
    encoding: "utf8",
    timeout,
  });
}

describe("lengths that no array has", () => {
  const lying = (length, item) =>
    new Proxy([], {
      get(_target, name) {
        if (name === "length") return length;
        return name === "toJSON" ? undefined : item;
      },
      has: () => true,
    });
  const pledge = good().pledges[0];
  const cases = {
    "a sparse array": () => new Array(2 ** 31),
    "a lying Proxy of good pledges": () => lying(2 ** 31, pledge),
    "a lying Proxy of nothing": () => lying(2 ** 31, undefined),
    "a length that is infinite": () => lying(Infinity, pledge),
  };
  for (const [name, make] of Object.entries(cases)) {
    test(name, () => {
      const value = { ...good(), pledges: make(), trigger: 1 };
      const expected = [
        ["/pledges", "unreadable"],
        ["/trigger", "invalid_type"],
      ];
      assert.deepEqual(
        validate(value).map(({ pointer, code }) => [pointer, code]),
        expected,
      );
      assert.deepEqual(
        validateAt("/pledges", make()).map(({ code }) => code),
        ["unreadable"],
      );
    });
  }

  test("lengths that are no numbers", () => {
    for (const length of [NaN, -5, "0", null, undefined])
      assert.deepEqual(
        codes(validate({ ...good(), pledges: lying(length, pledge) })),
        ["too_few_items"],
        String(length),
      );
    assert.deepEqual(validate({ ...good(), pledges: lying(1.5, pledge) }), []);
    assert.deepEqual(
      codes(
        validate({
          ...good(),
          pledges: lying(
            {
              valueOf() {
                throw new Error("no");
              },
            },
            pledge,
          ),
        }),
      ),
      ["unreadable"],
    );
    assert.deepEqual(codes(validate({ ...good(), pledges: lying(Symbol("no"), pledge) })), [
      "unreadable",
    ]);
    assert.deepEqual(codes(validate({ ...good(), pledges: lying(5n, pledge) })), ["unreadable"]);
  });

  test("more text than an engine has room for", () => {
    const long = "ü\n".repeat(20_000_000);
    const pledge = { impact: { amount: 1, offeringId: long } };
    assert.ok(
      codes(
        validate({
          ...good(),
          trigger: { externalUrl: long },
          notifications: Array(50).fill(long),
        }),
      ).includes("unreadable"),
    );
    assert.notDeepEqual(
      validate({
        ...good(),
        trigger: { externalUrl: "ü" },
        pledges: Array(50).fill({ ...pledge, [long]: 1 }),
      }),
      [],
    );
    assert.deepEqual(validate(good()), []);
  });
});
