/** `impact-pledge/validate` as it is built into pkg/: the rows of the rules, hostile values, pointers, the standard schema. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  createPledgeTransactionSchema,
  ready,
  validate,
  validateAt,
  validateBytes,
} from "../../pkg/validate.js";

const root = join(import.meta.dirname, "..", "..");
const fixtures = join(root, "tests", "fixtures", "validation");
const encode = (text) => new TextEncoder().encode(text);
const short = (issues) => issues.map(({ path, code }) => ({ path, code }));

const good = () => ({
  reference: "order-1",
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [
    {
      impact: { amount: 2.5, offeringId: "tree" },
      detail: { name: "Tree", image: "https://shop.example/tree.jpg" },
    },
  ],
  trigger: { date: "2026-01-31T12:00:00Z", externalUrl: "https://shop.example/orders/1" },
  notifications: ["Email"],
});

/** Every row, its JSON as it is written in the file. */
function rows() {
  return readdirSync(fixtures).flatMap((file) =>
    JSON.parse(readFileSync(join(fixtures, file), "utf8")).rows.map((row) => ({ ...row, file })),
  );
}

/** The value of a row that one can stand for. */
function rowValue(row) {
  return row.json === undefined && row.hex === undefined
    ? row.value
    : JSON.parse(new TextDecoder().decode(bytesOf(row)));
}

const ofValues = () => rows().filter(({ only }) => only !== "bytes");

function bytesOf(row) {
  if (row.hex !== undefined)
    return Uint8Array.from(row.hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  return encode(row.json ?? JSON.stringify(row.value));
}

describe("the rows of the rules", () => {
  test("through validateBytes", () => {
    for (const row of rows())
      assert.deepEqual(short(validateBytes(bytesOf(row))), row.issues, `${row.file}: ${row.name}`);
  });

  test("through validate", () => {
    let count = 0;
    for (const row of ofValues()) {
      assert.deepEqual(short(validate(rowValue(row))), row.issues, `${row.file}: ${row.name}`);
      count += 1;
    }
    assert.ok(count > 600, `only ${count} rows`);
  });

  test("the same issues to the letter, whichever way", () => {
    for (const row of ofValues().filter(
      ({ issues }) => !issues.some(({ code }) => code === "not_finite"),
    )) {
      const value = rowValue(row);
      const text = JSON.stringify(value);
      assert.deepEqual(validate(value), validateBytes(encode(text)), text);
    }
  });

  test("in CommonJS", () => {
    const required = createRequire(import.meta.url)("../../pkg/validate.cjs");
    for (const row of rows())
      assert.deepEqual(
        short(required.validateBytes(bytesOf(row))),
        row.issues,
        `${row.file}: ${row.name}`,
      );
  });
});

/** Whatever came before, a good request is still valid and a bad one is not. */
function stillRight(name) {
  assert.deepEqual(validate(good()), [], `valid after ${name}`);
  const bad = good();
  bad.pledges[0].impact.amount = 0;
  assert.deepEqual(
    short(validate(bad)),
    [{ path: ["pledges", 0, "impact", "amount"], code: "not_positive" }],
    `invalid after ${name}`,
  );
}

const thrown = () => {
  throw new Error("no");
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const cycle = () => {
  const value = {};
  value.value = value;
  return value;
};
const wide = () => {
  const value = {};
  value.a = value.b = value;
  return value;
};
const nested = (depth) => Array.from({ length: depth }).reduce((inner) => [inner], 0);
const issue = (path, code) => ({ path, code });
const at = (change) => {
  const value = good();
  change(value);
  return value;
};

/** Name, value, and its issues. */
const HOSTILE = [
  [
    "a getter that throws",
    at((v) => Object.defineProperty(v, "reference", { get: thrown, enumerable: true })),
    [issue(["reference"], "unreadable")],
  ],
  [
    "a getter that throws what is no error",
    at((v) =>
      Object.defineProperty(v, "reference", {
        get: () => {
          throw null;
        },
        enumerable: true,
      }),
    ),
    [issue(["reference"], "unreadable")],
  ],
  [
    "an unknown getter that throws",
    at((v) => Object.defineProperty(v, "extra", { get: thrown, enumerable: true })),
    [issue(["extra"], "unknown_member")],
  ],
  ["a revoked proxy", revoked(), [issue([], "unreadable")]],
  [
    "a revoked proxy inside",
    at((v) => (v.recipient = revoked())),
    [issue(["recipient"], "unreadable")],
  ],
  [
    "a revoked proxy as an item",
    at((v) => v.pledges.push(revoked())),
    [issue(["pledges", 1], "unreadable")],
  ],
  ["an honest proxy", new Proxy(good(), {}), []],
  [
    "a proxy whose keys throw",
    at((v) => (v.recipient = new Proxy(v.recipient, { ownKeys: thrown }))),
    [issue(["recipient"], "unreadable")],
  ],
  [
    "a cycle at an unknown member",
    at((v) => (v.extra = cycle())),
    [issue([], "too_deep"), issue(["extra"], "unknown_member")],
  ],
  [
    "a cycle instead of a text",
    at((v) => (v.notifications = ["Email", cycle()])),
    [issue(["notifications", 1], "invalid_type"), issue(["notifications", 1], "too_deep")],
  ],
  [
    "a cycle that branches",
    at((v) => (v.notifications = [wide()])),
    [issue(["notifications", 0], "invalid_type"), issue(["notifications", 0], "too_deep")],
  ],
  [
    "70 levels",
    at((v) => (v.notifications = [nested(70)])),
    [issue(["notifications", 0], "invalid_type"), issue(["notifications", 0], "too_deep")],
  ],
  [
    "a bigint",
    at((v) => (v.pledges[0].impact.amount = 5n)),
    [issue(["pledges", 0, "impact", "amount"], "invalid_type")],
  ],
  ["a symbol", at((v) => (v.reference = Symbol("r"))), [issue(["reference"], "invalid_type")]],
  ["a symbol as a key", at((v) => (v[Symbol("r")] = 1)), []],
  [
    "a function",
    at((v) => (v.trigger.phrase = () => "x")),
    [issue(["trigger", "phrase"], "invalid_type")],
  ],
  [
    "an unknown function",
    at((v) => (v.onClick = () => {})),
    [issue(["onClick"], "unknown_member")],
  ],
  ["undefined members", at((v) => Object.assign(v, { extra: undefined, trigger: undefined })), []],
  [
    "NaN",
    at((v) => (v.pledges[0].impact.amount = NaN)),
    [issue(["pledges", 0, "impact", "amount"], "not_finite")],
  ],
  [
    "-Infinity",
    at((v) => (v.pledges[0].impact.amount = -Infinity)),
    [issue(["pledges", 0, "impact", "amount"], "not_finite")],
  ],
  [
    "-0",
    at((v) => (v.pledges[0].impact.amount = -0)),
    [issue(["pledges", 0, "impact", "amount"], "not_positive")],
  ],
  ["a Date", at((v) => (v.trigger.date = new Date(0))), []],
  [
    "a Date that is none",
    at((v) => (v.trigger.date = new Date(NaN))),
    [issue(["trigger", "date"], "invalid_type")],
  ],
  ["a URL", at((v) => (v.trigger.externalUrl = new URL("https://shop.example/"))), []],
  [
    "wrapped primitives",
    at((v) => {
      v.reference = new String("r");
      v.pledges[0].impact.amount = new Number(3);
    }),
    [],
  ],
  [
    "a wrapped number for an object",
    at((v) => (v.trigger = new Number(3))),
    [issue(["trigger"], "invalid_type")],
  ],
  [
    "typed arrays",
    at((v) => {
      v.notifications = new Uint8Array(2);
      v.trigger = new Uint8Array(0);
    }),
    [issue(["notifications"], "invalid_type")],
  ],
  [
    "a Map",
    at((v) => (v.recipient = new Map([["email", "a@b"]]))),
    [issue(["recipient", "email"], "required")],
  ],
  [
    "a sparse array",
    // biome-ignore lint/suspicious/noSparseArray: a hole is what the test is about
    at((v) => (v.pledges = [, ...v.pledges])),
    [issue(["pledges", 0], "invalid_type")],
  ],
  ["an array of four billion holes", at((v) => (v.notifications = new Array(4_000_000_000))), null],
  [
    "a lone surrogate",
    at((v) => (v.reference = "\ud800")),
    [issue(["reference"], "lone_surrogate")],
  ],
  [
    "a lone surrogate in an address",
    at((v) => (v.recipient.email = "\udc00@b")),
    [issue(["recipient", "email"], "lone_surrogate")],
  ],
  ["a lone surrogate in a name", at((v) => (v["\ud800"] = 1)), [issue([], "lone_surrogate")]],
  ["NUL in a text", at((v) => (v.reference = "a\0b")), []],
  [
    "NUL in an address",
    at((v) => (v.recipient.email = "a\0@b")),
    [issue(["recipient", "email"], "invalid_email")],
  ],
  [
    "umlauts",
    at((v) => {
      v.reference = "Bäume 🌳";
      v.recipient.email = "ü@b.c";
    }),
    [issue(["recipient", "email"], "invalid_email")],
  ],
  [
    "__proto__ as an own member",
    at((v) => Object.defineProperty(v, "__proto__", { value: 1, enumerable: true })),
    [issue(["__proto__"], "unknown_member")],
  ],
  [
    "inherited members",
    Object.create(good()),
    [
      issue(["reference"], "required"),
      issue(["recipient"], "required"),
      issue(["pledges"], "required"),
    ],
  ],
  [
    "members that are not enumerable",
    at((v) => Object.defineProperty(v, "reference", { enumerable: false })),
    [issue(["reference"], "required")],
  ],
  ["an object without a prototype", Object.assign(Object.create(null), good()), []],
  ["toJSON", { toJSON: () => good() }, []],
  [
    "toJSON that throws",
    at((v) => (v.recipient = { toJSON: thrown })),
    [issue(["recipient"], "unreadable")],
  ],
  [
    "toJSON that is not enumerable",
    at(
      (v) => (v.recipient = Object.defineProperty({ email: "a@b" }, "toJSON", { value: () => 1 })),
    ),
    [issue(["recipient"], "invalid_type")],
  ],
  [
    "an array with toJSON",
    at((v) => (v.pledges.toJSON = () => [])),
    [issue(["pledges"], "too_few_items")],
  ],
  [
    "a class",
    new (class {
      constructor() {
        Object.assign(this, good());
      }
      get extra() {
        return 1;
      }
    })(),
    [],
  ],
  ["null", null, [issue([], "invalid_type")]],
  ["undefined", undefined, [issue([], "invalid_type")]],
  ["a function alone", () => {}, [issue([], "invalid_type")]],
  ["an array alone", [], [issue([], "invalid_type")]],
  [
    "300 unknown members",
    at((v) => {
      for (let i = 0; i < 300; i++) v[`extra${i}`] = i;
    }),
    Array.from({ length: 300 }, (_, i) => issue([`extra${i}`], "unknown_member")),
  ],
  [
    "names that a pointer escapes",
    at((v) => (v["a/b~c"] = 1)),
    [issue(["a/b~c"], "unknown_member")],
  ],
];

describe("hostile values", () => {
  for (const [name, value, issues] of HOSTILE) {
    test(name, () => {
      const seen = short(validate(value));
      if (issues) assert.deepEqual(seen, issues);
      else assert.notEqual(seen.length, 0);
      stillRight(name);
    });
  }

  test("a million items", () => {
    const value = good();
    value.pledges = Array.from({ length: 1_000_000 }, () => value.pledges[0]);
    assert.deepEqual(validate(value), []);
    value.pledges[999_999] = { impact: { amount: 0, offeringId: "tree" } };
    value.pledges[7] = 1;
    const expected = [
      issue(["pledges", 7], "invalid_type"),
      issue(["pledges", 999_999, "impact", "amount"], "not_positive"),
    ];
    assert.deepEqual(short(validate(value)), expected);
    stillRight("a million items");
  });

  test("a very long address", () => {
    const value = good();
    value.trigger.externalUrl = `https://shop.example/${"a".repeat(20_000_000)}`;
    assert.deepEqual(validate(value), []);
    stillRight("a very long address");
  });

  test("a getter that validates, and one that changes what was read", () => {
    const value = good();
    Object.defineProperty(value, "reference", {
      enumerable: true,
      get() {
        validate({ extra: 1 });
        value.pledges.push(1);
        return "r";
      },
    });
    assert.deepEqual(short(validate(value)), [issue(["pledges", 1], "invalid_type")]);
    stillRight("a getter that validates");
  });

  test("a member that is valid only the first time is never accepted the second", () => {
    let reads = 0;
    const value = good();
    Object.defineProperty(value, "reference", {
      enumerable: true,
      get: () => (reads++ === 0 ? "r" : 1),
    });
    assert.deepEqual(validate(value), []);
    assert.equal(reads, 1);
  });

  test("a polluted Object.prototype adds no members", () => {
    Object.prototype.reference = "inherited";
    try {
      const { reference, ...rest } = good();
      assert.deepEqual(short(validate(rest)), [issue(["reference"], "required")]);
    } finally {
      delete Object.prototype.reference;
    }
    stillRight("a polluted prototype");
  });
});

describe("validateAt", () => {
  const rows = [
    ["/recipient/email", "x@", [["recipient", "email"], "invalid_email"]],
    ["/recipient/email", "a@b.c"],
    ["/recipient/email", undefined, [["recipient", "email"], "required"]],
    ["/recipient/name", undefined],
    ["/pledges/3/impact/amount", 0, [["pledges", 3, "impact", "amount"], "not_positive"]],
    ["/pledges/3/impact/amount", 1],
    ["/pledges/2", { impact: { amount: 1 } }, [["pledges", 2, "impact", "offeringId"], "required"]],
    ["/pledges", [], [["pledges"], "too_few_items"]],
    ["/pledges", [good().pledges[0], 1], [["pledges", 1], "invalid_type"]],
    ["/notifications/1", "Pigeon", [["notifications", 1], "not_allowed"]],
    ["", 1, [[], "invalid_type"]],
    ["", good()],
    ["/nothing", 1, [["nothing"], "unknown_pointer"]],
    ["/pledges/01", 1, [["pledges", "01"], "unknown_pointer"]],
    ["/pledges/*", 1, [["pledges", "*"], "unknown_pointer"]],
    ["/recipient/email/x", 1, [["recipient", "email", "x"], "unknown_pointer"]],
    ["recipient", 1, [[], "unknown_pointer"]],
  ];
  for (const [pointer, value, expected] of rows) {
    test(`${pointer || "the request"}: ${expected?.[1] ?? "fine"}`, () => {
      assert.deepEqual(short(validateAt(pointer, value)), expected ? [issue(...expected)] : []);
    });
  }
});

describe("issues", () => {
  test("have path, pointer, code, message and meta", () => {
    const value = good();
    value.pledges[0].impact.amount = "3";
    value["a/b~c"] = 1;
    assert.deepEqual(validate(value), [
      {
        path: ["pledges", 0, "impact", "amount"],
        pointer: "/pledges/0/impact/amount",
        code: "invalid_type",
        message: "must be a number, not a string",
        meta: { expected: "number", actual: "string" },
      },
      {
        path: ["a/b~c"],
        pointer: "/a~1b~0c",
        code: "unknown_member",
        message:
          "is not a member of the contract; allowed here: `reference`, `recipient`, `pledges`, `trigger`, `notifications`",
        meta: { allowed: ["reference", "recipient", "pledges", "trigger", "notifications"] },
      },
    ]);
  });

  test("name the byte where JSON ends", () => {
    assert.equal(
      validateBytes(encode('{"reference":'))[0].message,
      "must be JSON: a value expected at byte 13",
    );
  });

  test("have the shop's own words", () => {
    const messages = ({ code }) => (code === "required" ? "fehlt" : undefined);
    assert.deepEqual(
      validate({ reference: 1 }, { messages }).map(({ message }) => message),
      ["must be a string, not a number", "fehlt", "fehlt"],
    );
  });

  test("are refused nothing but bytes and pointers of the right type", () => {
    assert.throws(() => validateBytes("{}"), TypeError);
    assert.throws(() => validateBytes(new Float64Array(2)), TypeError);
    assert.throws(() => validateAt(1, 1), TypeError);
  });
});

describe("the standard schema", () => {
  const standard = createPledgeTransactionSchema["~standard"];

  test("validates at once", () => {
    const value = good();
    assert.deepEqual(standard.validate(value), { value });
    assert.deepEqual(standard.validate(1).issues[0].path, []);
    assert.deepEqual([standard.version, standard.vendor], [1, "impact-pledge"]);
  });

  test("returns the value if it is this JSON already, and else the JSON", () => {
    const value = good();
    assert.equal(standard.validate(value).value, value);
    const changed = (change) => at((v) => void change(v));
    class Order {
      constructor() {
        Object.assign(this, good());
      }
    }
    const cases = {
      "a Date": changed((v) => (v.trigger.date = new Date(0))),
      "a URL": changed((v) => (v.trigger.externalUrl = new URL("https://shop.example/orders/1"))),
      "wrapped primitives": changed((v) =>
        Object.assign(v.pledges[0].impact, {
          amount: new Number(3),
          offeringId: new String("tree"),
        }),
      ),
      toJSON: { toJSON: () => good() },
      "toJSON inside": changed((v) => (v.recipient = { toJSON: () => good().recipient })),
      "toJSON that is inherited": changed(
        (v) => (v.recipient = Object.create({ toJSON: () => good().recipient })),
      ),
      "members that are undefined": changed((v) =>
        Object.assign(v, { extra: undefined, trigger: undefined }),
      ),
      "inherited members": Object.assign(Object.create({ extra: 1 }), good()),
      "members that are not enumerable": changed((v) =>
        Object.defineProperty(v, "extra", { value: 1 }),
      ),
      "a symbol as a key": changed((v) => (v[Symbol("extra")] = 1)),
      "members of an array": changed((v) => (v.pledges.extra = 1)),
      "a class": new Order(),
      "a class of arrays": changed(
        (v) => (v.notifications = new (class extends Array {})("Email")),
      ),
      "no prototype": Object.assign(Object.create(null), good()),
      "a getter": changed((v) =>
        Object.defineProperty(v, "reference", { get: () => "order-1", enumerable: true }),
      ),
      "a Proxy that gives other members": new Proxy(good(), {
        get: (target, name) => (name === "reference" ? "other" : target[name]),
      }),
      "a Proxy whose members can be read, but not be described": new Proxy(good(), {
        getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
      }),
    };
    for (const [name, value] of Object.entries(cases)) {
      const sent = JSON.parse(JSON.stringify(value));
      const result = standard.validate(value);
      assert.deepEqual(result, { value: sent }, name);
      assert.notEqual(result.value, value, name);
      assert.deepEqual(Reflect.ownKeys(result.value), Reflect.ownKeys(sent), name);
    }
  });

  test("returns what was checked, read once", () => {
    let reads = 0;
    const value = good();
    Object.defineProperty(value, "reference", {
      get: () => (reads++ === 0 ? "r" : 1),
      enumerable: true,
    });
    assert.equal(standard.validate(value).value.reference, "r");
    assert.equal(reads, 1);
    const target = good();
    let gets = 0;
    const flaky = new Proxy(target, {
      get: (_, name) => (name === "reference" && gets++ > 0 ? 1 : target[name]),
    });
    assert.equal(standard.validate(flaky).value.reference, target.reference);
  });

  test("returns JSON Schema", () => {
    const amount = (target) =>
      standard.jsonSchema.input({ target }).properties.pledges.items.properties.impact.properties
        .amount;
    assert.equal(amount("draft-2020-12").exclusiveMinimum, 0);
    assert.equal(amount("draft-07").exclusiveMinimum, 0);
    assert.deepEqual(
      [amount("openapi-3.0").minimum, amount("openapi-3.0").exclusiveMinimum],
      [0, true],
    );
    assert.match(standard.jsonSchema.output({ target: "draft-2020-12" }).$schema, /2020-12/);
    assert.throws(() => standard.jsonSchema.input({ target: "draft-04" }), /not supported/);
  });
});

test("compiling ahead is possible, and is not needed", async () => {
  await ready();
  stillRight("ready");
});
