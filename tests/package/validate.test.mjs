/** Tests the built `impact-pledge/validate`: the rows of the rules, hostile values, pointers, and the standard schema. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import {
  createPledgeTransactionSchema,
  ready,
  safeParse,
  validate,
  validateAt,
  validateBytes,
} from "../../pkg/validate.js";
import { KIND_NAMES, texts } from "../proofs/bench/data.mjs";
import { fixturesIn } from "../support/fixtures.mjs";

const encode = (text) => new TextEncoder().encode(text);
const places = (issues) => issues.map(({ pointer, code }) => `${pointer} ${code}`);

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
const at = (change) => {
  const value = good();
  change(value);
  return value;
};

test("every row, as bytes, by require and as a value, with the same issues to the letter", () => {
  const required = createRequire(import.meta.url)("../../pkg/validate.cjs");
  const rows = fixturesIn("validation").flatMap((file) => file.rows);
  let values = 0;
  for (const { name, only, hex, json, value, issues } of rows) {
    const bytes =
      hex === undefined ? encode(json ?? JSON.stringify(value)) : Buffer.from(hex, "hex");
    const seen = validateBytes(bytes);
    assert.deepEqual(
      seen.map(({ path, code }) => ({ path, code })),
      issues,
      name,
    );
    assert.deepEqual(required.validateBytes(bytes), seen, name);
    if (only === "bytes") continue;
    assert.deepEqual(validate(JSON.parse(Buffer.from(bytes))), seen, name);
    values += 1;
  }
  assert.ok(rows.length > 900 && values > 600, `${rows.length} rows, ${values} values`);
});

// ---- Texts with a format ---------------------------------------------------------------------------

/**
 * For each format, `put` writes a text into a request, and `start` is the beginning of a text. `parts` are
 * endings for the text: one for each class of characters.
 */
const FORMATS = {
  email: {
    put: (text) => at((v) => (v.recipient.email = text)),
    start: "",
    parts: ["a", "_", "+", "-", ".", "@", "!", "\u0161"],
  },
  uri: {
    put: (text) => at((v) => (v.trigger.externalUrl = text)),
    start: "https://",
    parts: ["a", "7", ":", "/", "?", "@", "%", "#", "["],
  },
  "uri with percent-encoding": {
    put: (text) => at((v) => (v.trigger.externalUrl = text)),
    start: "https://a/",
    parts: ["7", "g", "%", "%7", "%aF", "#", "?"],
  },
  "date-time": {
    put: (text) => at((v) => (v.trigger.date = text)),
    start: "2024-02-28T09:30:00",
    parts: [".", "0", "Z", "z", "+", "-", ":", "23"],
  },
};

function assertSame(value, about) {
  const issues = validateBytes(encode(JSON.stringify(value)));
  if (JSON.stringify(validate(value)) !== JSON.stringify(issues))
    assert.deepEqual(validate(value), issues, about);
  return issues.length === 0;
}

for (const [format, { put, start, parts }] of Object.entries(FORMATS)) {
  test(`every short text, ordinary or checked by the wasm: ${format}`, () => {
    let all = [start],
      valid = 0;
    for (let length = 1; length <= 5; length++) {
      all = all.flatMap((text) => parts.map((part) => text + part));
      valid += all.filter((text) => assertSame(put(text), text)).length;
    }
    assert.ok(valid > 20, `${valid}`);
  });
}

test("texts of the lengths at which the check changes", () => {
  for (const length of [254, 255, 256, 65_536, 65_537, 200_000])
    for (const [format, start] of [
      ["email", "ada@"],
      ["uri", "https://shop.example/"],
      ["date-time", "2024-05-17T09:30:00."],
    ])
      for (const end of ["0", "Z", "\u0161", "\ud83c\udf33", "\ud83c", "\0"]) {
        const text = start + "0".repeat(length - start.length - end.length) + end;
        assertSame(FORMATS[format].put(text), `${format} of ${length} that ends with ${end}`);
      }
});

/** Loads another copy of the package while parts of WebAssembly are `replaced`. */
async function withWebAssembly(replaced, use) {
  const { Instance, Module } = WebAssembly;
  Object.assign(WebAssembly, replaced);
  try {
    return await use(await import(`../../pkg/validate.js?${Object.keys(replaced)}`));
  } finally {
    Object.assign(WebAssembly, { Instance, Module });
  }
}

/**
 * An ordinary payload is checked in JavaScript alone. Only values that must be serialized, and unusual texts,
 * need WebAssembly.
 */
test("an ordinary payload is neither serialized nor does it call the wasm", async () => {
  const refused = class {
    constructor() {
      throw new Error("an instance");
    }
  };
  const kinds = KIND_NAMES.filter((kind) => !kind.startsWith("problems"));
  await withWebAssembly({ Instance: refused }, ({ validate }) => {
    for (const text of kinds.flatMap((kind) => texts(kind)))
      assert.deepEqual(validate(JSON.parse(text)), []);
    const wrong = { ...good(), reference: 1, "a/b": 1, notifications: ["Pigeon"] };
    assert.equal(validate(wrong).length, 3);
    assert.throws(() => validate({ toJSON: good }), /an instance/);
    assert.throws(() => validate(at((v) => (v.recipient.email = "ada@"))), /an instance/);
  });
});

test("where WebAssembly is refused, the first check of any value reports it, and so does `ready`", async () => {
  const refused = class {
    constructor() {
      throw new WebAssembly.CompileError("refused by a policy");
    }
  };
  const says = /WebAssembly; allow .* or import impact-pledge\/validate\/js/;
  await withWebAssembly({ Module: refused, compile: async () => new refused() }, async (copy) => {
    for (const value of [good(), good(), {}, undefined])
      assert.throws(() => copy.validate(value), says);
    await assert.rejects(copy.ready(), says);
  });
});

// ---- Hostile values --------------------------------------------------------------------------------

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
  value.a = value.b = value;
  return value;
};
const nested = (depth) => Array.from({ length: depth }).reduce((inner) => [inner], 0);
const define = (object, name, descriptor) =>
  Object.defineProperty(object, name, { enumerable: true, ...descriptor });
class Order {
  constructor() {
    Object.assign(this, good());
  }
  get extra() {
    return 1;
  }
}

/** Changes to a valid request, by name. Each has a function that makes the change, and the expected issues. */
const CHANGES = {
  "a getter that throws": [(v) => define(v, "reference", { get: thrown }), "/reference unreadable"],
  "an unknown getter that throws": [(v) => define(v, "x", { get: thrown }), "/x unknown_member"],
  "a revoked proxy inside": [(v) => (v.recipient = revoked()), "/recipient unreadable"],
  "a revoked proxy as an item": [(v) => v.pledges.push(revoked()), "/pledges/1 unreadable"],
  "a proxy whose keys throw": [
    (v) => (v.recipient = new Proxy(v.recipient, { ownKeys: thrown })),
    "/recipient unreadable",
  ],
  "a cycle at an unknown member": [(v) => (v.x = cycle()), " too_deep", "/x unknown_member"],
  "a cycle instead of a text": [
    (v) => (v.notifications = ["Email", cycle()]),
    "/notifications/1 invalid_type",
    "/notifications/1 too_deep",
  ],
  "70 levels": [
    (v) => (v.notifications = [nested(70)]),
    "/notifications/0 invalid_type",
    "/notifications/0 too_deep",
  ],
  "a bigint": [(v) => (v.pledges[0].impact.amount = 5n), "/pledges/0/impact/amount invalid_type"],
  "a symbol": [(v) => (v.reference = Symbol("r")), "/reference invalid_type"],
  "a symbol as a key": [(v) => (v[Symbol("r")] = 1)],
  "a function": [(v) => (v.trigger.phrase = () => "x"), "/trigger/phrase invalid_type"],
  "an unknown function": [(v) => (v.onClick = () => {}), "/onClick unknown_member"],
  "undefined members": [(v) => Object.assign(v, { extra: undefined, trigger: undefined })],
  NaN: [(v) => (v.pledges[0].impact.amount = NaN), "/pledges/0/impact/amount not_finite"],
  "-Infinity": [
    (v) => (v.pledges[0].impact.amount = -Infinity),
    "/pledges/0/impact/amount not_finite",
  ],
  "-0": [(v) => (v.pledges[0].impact.amount = -0), "/pledges/0/impact/amount not_positive"],
  "a Date": [(v) => (v.trigger.date = new Date(0))],
  "a Date that is none": [(v) => (v.trigger.date = new Date(NaN)), "/trigger/date invalid_type"],
  "a URL": [(v) => (v.trigger.externalUrl = new URL("https://shop.example/"))],
  "wrapped primitives": [
    (v) =>
      Object.assign(v.pledges[0].impact, { amount: new Number(3), offeringId: new String("x") }),
  ],
  "a wrapped number for an object": [(v) => (v.trigger = new Number(3)), "/trigger invalid_type"],
  "typed arrays": [
    (v) => Object.assign(v, { notifications: new Uint8Array(2), trigger: new Uint8Array(0) }),
    "/notifications invalid_type",
  ],
  "a Map": [(v) => (v.recipient = new Map([["email", "a@b"]])), "/recipient/email required"],
  // biome-ignore lint/suspicious/noSparseArray: a hole is what the row is about
  "a sparse array": [(v) => (v.pledges = [, ...v.pledges]), "/pledges/0 required"],
  "undefined as an item": [(v) => v.notifications.push(undefined), "/notifications/1 required"],
  "undefined in an unknown array": [(v) => (v.x = [undefined]), "/x unknown_member"],
  "a lone surrogate": [(v) => (v.reference = "\ud800"), "/reference lone_surrogate"],
  "a lone surrogate in an address": [
    (v) => (v.recipient.email = "\udc00@b"),
    "/recipient/email lone_surrogate",
  ],
  "a lone surrogate in a name": [(v) => (v["\ud800"] = 1), " lone_surrogate"],
  "NUL in a text": [(v) => (v.reference = "a\0b")],
  "NUL in an address": [(v) => (v.recipient.email = "a\0@b"), "/recipient/email invalid_email"],
  "umlauts in an address": [(v) => (v.recipient.email = "ü@b.c"), "/recipient/email invalid_email"],
  "__proto__ as an own member": [
    (v) => define(v, "__proto__", { value: 1 }),
    "/__proto__ unknown_member",
  ],
  "members that are not enumerable": [
    (v) => define(v, "reference", { enumerable: false }),
    "/reference required",
  ],
  "toJSON that throws": [(v) => (v.recipient = { toJSON: thrown }), "/recipient unreadable"],
  "toJSON that is not enumerable": [
    (v) => Object.defineProperty(v.recipient, "toJSON", { value: () => 1 }),
    "/recipient invalid_type",
  ],
  "an array with toJSON": [(v) => (v.pledges.toJSON = () => []), "/pledges too_few_items"],
  "names that a pointer escapes": [(v) => (v["a/b~c"] = 1), "/a~1b~0c unknown_member"],
};

/** Values to validate in place of a request, by name. Each has the expected issues. */
const WHOLE = {
  "a revoked proxy": [revoked(), " unreadable"],
  "an honest proxy": [new Proxy(good(), {})],
  "inherited members": [
    Object.create(good()),
    "/reference required",
    "/recipient required",
    "/pledges required",
  ],
  "an object without a prototype": [Object.assign(Object.create(null), good())],
  "a class": [new Order()],
  toJSON: [{ toJSON: () => good() }],
  null: [null, " invalid_type"],
  undefined: [undefined, " required"],
  "toJSON that returns nothing": [{ toJSON() {} }, " required"],
  "a function": [() => {}, " invalid_type"],
  "an array": [[], " invalid_type"],
};

/** Asserts that a good request is still valid, and that a bad request is still invalid. */
function assertStillRight() {
  assert.deepEqual(validate(good()), []);
  const bad = at((v) => (v.pledges[0].impact.amount = 0));
  assert.deepEqual(places(validate(bad)), ["/pledges/0/impact/amount not_positive"]);
}

describe("hostile values", () => {
  for (const [name, [change, ...issues]] of Object.entries(CHANGES)) {
    test(name, () => {
      assert.deepEqual(places(validate(at(change))), issues);
      assert.deepEqual(places(safeParse(at(change)).issues ?? []), issues);
      assertStillRight();
    });
  }

  for (const [name, [value, ...issues]] of Object.entries(WHOLE)) {
    test(`a value that is not a request: ${name}`, () => {
      assert.deepEqual(places(validate(value)), issues);
      assert.deepEqual(places(safeParse(value).issues ?? []), issues);
      assertStillRight();
    });
  }

  test("a million items", () => {
    const value = good();
    value.pledges = Array(1_000_000).fill(value.pledges[0]);
    assert.deepEqual(validate(value), []);
    value.pledges[999_999] = { impact: { amount: 0, offeringId: "tree" } };
    value.pledges[7] = 1;
    const expected = ["/pledges/7 invalid_type", "/pledges/999999/impact/amount not_positive"];
    assert.deepEqual(places(validate(value)), expected);
    assertStillRight();
  });

  test("a very long address", () => {
    const long = `https://shop.example/${"a".repeat(20_000_000)}`;
    assert.deepEqual(validate(at((v) => (v.trigger.externalUrl = long))), []);
    assertStillRight();
  });

  test("a getter that validates does not affect the values that were read", () => {
    const value = at((v) => (v.recipient.email = "not-an-email"));
    define(value.recipient, "name", {
      get() {
        validate(good());
        validateBytes(new Uint8Array(100_000)); // more memory
        value.pledges.push(1);
        return "Ada";
      },
    });
    const expected = ["/recipient/email invalid_email", "/pledges/1 invalid_type"];
    assert.deepEqual(places(validate(value)), expected);
    assertStillRight();
  });

  test("a polluted Object.prototype adds no members", () => {
    Object.prototype.reference = "inherited";
    try {
      const { reference, ...rest } = good();
      assert.deepEqual(places(validate(rest)), ["/reference required"]);
    } finally {
      delete Object.prototype.reference;
    }
    assertStillRight();
  });
});

// ---- Members of an issue ----------------------------------------------------------------------------

/** Each row has a JSON pointer, a value at that place, and the expected issue, if there is one. */
const AT = [
  ["/recipient/email", "x@", "/recipient/email invalid_email"],
  ["/recipient/email", "a@b.c"],
  ["/recipient/email", undefined, "/recipient/email required"],
  ["/recipient/name", undefined],
  ["/pledges/3/impact/amount", 0, "/pledges/3/impact/amount not_positive"],
  ["/pledges/3/impact/amount", 1],
  ["/pledges/2", { impact: { amount: 1 } }, "/pledges/2/impact/offeringId required"],
  ["/pledges", [], "/pledges too_few_items"],
  ["/pledges", [good().pledges[0], 1], "/pledges/1 invalid_type"],
  ["/notifications/1", "Pigeon", "/notifications/1 not_allowed"],
  ["", 1, " invalid_type"],
  ["", undefined, " required"],
  ["/pledges/3", undefined, "/pledges/3 required"],
  ["/trigger", undefined],
  ["", good()],
  ["/nothing", 1, "/nothing unknown_pointer"],
  ["/pledges/01", 1, "/pledges/01 unknown_pointer"],
  ["/pledges/*", 1, "/pledges/* unknown_pointer"],
  ["/recipient/email/x", 1, "/recipient/email/x unknown_pointer"],
  ["recipient", 1, "recipient unknown_pointer"],
];

test("validateAt checks the value at a pointer", () => {
  for (const [pointer, value, ...expected] of AT)
    assert.deepEqual(places(validateAt(pointer, value)), expected, pointer);
  assert.throws(() => validateAt(1, 1), TypeError);
});

test("an issue has path, pointer, code, message and meta", () => {
  const members = ["reference", "recipient", "pledges", "trigger", "notifications"];
  const value = at((v) => Object.assign(v.pledges[0].impact, { amount: "3" }));
  assert.deepEqual(validate({ ...value, "a/b~c": 1 }), [
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
      message: `is not a member of the contract; allowed here: ${members.map((name) => `\`${name}\``).join(", ")}`,
      meta: { allowed: members },
    },
  ]);
  const nothing = { path: [], pointer: "", code: "required", message: "is required", meta: {} };
  assert.deepEqual([validate(), safeParse().issues], [[nothing], [nothing]]);
  const [broken] = validateBytes(encode('{"reference":'));
  assert.equal(broken.message, "must be JSON: a value expected at byte 13");
});

test("validateBytes accepts only bytes", () => {
  assert.throws(() => validateBytes("{}"), TypeError);
  assert.throws(() => validateBytes(new Float64Array(2)), TypeError);
});

// ---- The standard schema, and `safeParse` ----------------------------------------------------------

describe("the standard schema, and `safeParse`", () => {
  const standard = createPledgeTransactionSchema["~standard"];

  test("validates synchronously", () => {
    const value = good();
    assert.equal(standard.validate(value).value, value);
    assert.equal(safeParse(value).data, value);
    assert.deepEqual(safeParse(1), standard.validate(1));
    assert.deepEqual(standard.validate(1).issues[0].path, []);
    assert.deepEqual([standard.version, standard.vendor], [1, "impact-pledge"]);
  });

  const inheriting = Object.create({ toJSON: () => good().recipient });
  const OTHERS = {
    "a Date": at((v) => (v.trigger.date = new Date(0))),
    "a URL": at((v) => (v.trigger.externalUrl = new URL("https://shop.example/orders/1"))),
    "wrapped primitives": at((v) => Object.assign(v.pledges[0].impact, { amount: new Number(3) })),
    toJSON: { toJSON: () => good() },
    "toJSON inside": at((v) => (v.recipient = { toJSON: () => good().recipient })),
    "toJSON that is inherited": at((v) => (v.recipient = inheriting)),
    "members that are undefined": at((v) => Object.assign(v, { extra: undefined })),
    "inherited members": Object.assign(Object.create({ extra: 1 }), good()),
    "members that are not enumerable": at((v) => define(v, "x", { value: 1, enumerable: false })),
    "a symbol as a key": at((v) => (v[Symbol("extra")] = 1)),
    "members of an array": at((v) => (v.pledges.extra = 1)),
    "a class": new Order(),
    "a class of arrays": at((v) => (v.notifications = new (class extends Array {})("Email"))),
    "no prototype": Object.assign(Object.create(null), good()),
    "a getter": at((v) => define(v, "reference", { get: () => "order-1" })),
    "a Proxy that gives other members": new Proxy(good(), {
      get: (target, name) => (name === "reference" ? "other" : target[name]),
    }),
    "a Proxy whose members can be read, but not be described": new Proxy(good(), {
      getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
    }),
  };
  for (const [name, value] of Object.entries(OTHERS)) {
    test(`returns the JSON form of a value that is not plain JSON: ${name}`, () => {
      const sent = JSON.parse(JSON.stringify(value));
      const result = standard.validate(value);
      assert.deepEqual(result, { value: sent });
      assert.notEqual(result.value, value);
      assert.deepEqual(safeParse(value), { data: sent });
      assert.deepEqual(Reflect.ownKeys(result.value), Reflect.ownKeys(sent));
    });
  }

  test("returns what was checked, read once", () => {
    for (const check of [validate, standard.validate]) {
      let reads = 0;
      const value = at((v) =>
        define(v, "reference", { get: () => (reads++ === 0 ? "order-1" : 1) }),
      );
      const result = check(value);
      assert.deepEqual(
        check === validate ? result : result.value,
        check === validate ? [] : good(),
      );
      assert.equal(reads, 1);
    }
    let gets = 0;
    const flaky = new Proxy(good(), {
      get: (target, name) => (name === "reference" && gets++ > 0 ? 1 : target[name]),
    });
    assert.equal(standard.validate(flaky).value.reference, "order-1");
  });

  test("returns JSON Schema", () => {
    const amount = (target) =>
      standard.jsonSchema.input({ target }).properties.pledges.items.properties.impact.properties
        .amount;
    assert.equal(amount("draft-2020-12").exclusiveMinimum, 0);
    assert.equal(amount("draft-07").exclusiveMinimum, 0);
    const { minimum, exclusiveMinimum } = amount("openapi-3.0");
    assert.deepEqual([minimum, exclusiveMinimum], [0, true]);
    assert.match(standard.jsonSchema.output({ target: "draft-2020-12" }).$schema, /2020-12/);
    assert.throws(() => standard.jsonSchema.input({ target: "draft-04" }), /not supported/);
  });
});

test("`ready` compiles ahead, and is optional", async () => {
  await ready();
  assertStillRight();
});
