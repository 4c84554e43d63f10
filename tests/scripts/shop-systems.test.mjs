/**
 * Tests docs/shop-systems.md: its rules are valid and pledge what it says, its tables have all outcomes and settings, and its words are
 * those of the dashboard.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { operator } from "../../scripts/lib/operator.mjs";

const root = join(import.meta.dirname, "../..");
const read = (file) => readFileSync(join(root, file), "utf8");
const PAGE = read("docs/shop-systems.md");
const CONNECTIONS = "src/office/connections";

// ---- Rules ---------------------------------------------------------------------------------------

/** The examples of rules: each with what the page says that the example order pledges, and the attribute that it sets. */
const EXAMPLES = [
  ...PAGE.matchAll(
    /```json\n([\s\S]*?)```\s+The example order (?:with `(\w+)` set to (\d+) )?pledges (\d+)/g,
  ),
].map(([, settings, name, value, amount]) => ({ settings, name, value, amount: Number(amount) }));

const ajv = formats.default(new Ajv2020({ strict: true }));
const isValid = ajv.compile(JSON.parse(read("docs/connection.schema.json")));

/** Sets an attribute in the order of a system. */
const SET = {
  woocommerce: (order, key, value) => order.meta_data.push({ key, value }),
  shopify: (order, name, value) => {
    order.note_attributes = [{ name, value }];
  },
  bigcommerce: ({ billing_address: { form_fields } }, name, value) =>
    form_fields.push({ name, value }),
  stripe: ({ data }, name, value) => {
    data.object.metadata[name] = value;
  },
};

/** Returns what the order that the dashboard shows as an example pledges. */
async function preview(system, { settings, name, value }) {
  const order = JSON.parse(read(`${CONNECTIONS}/page/examples/${system}.json`));
  if (name) SET[system](order, name, value);
  const files = { order: JSON.stringify(order), settings };
  const program = { records: {}, place: "", read: async (file) => Buffer.from(files[file]) };
  const { run } = await operator({ root });
  const asked = { order: "order", settings: "settings", system, mode: "live" };
  return JSON.parse((await run(program, "connections", "preview", JSON.stringify(asked))).data);
}

test("every example of rules is followed by what it pledges, and each basis has one", () => {
  assert.equal(EXAMPLES.length, PAGE.match(/^```json\n\{\s*"rules"/gm)?.length);
  const bases = EXAMPLES.map(({ settings }) => Object.keys(JSON.parse(settings).rules[0].basis)[0]);
  const { properties } = JSON.parse(read("docs/connection.schema.json"));
  const all = Object.keys(properties.rules.items.properties.basis.properties);
  assert.deepEqual([...new Set(bases)].sort(), all.sort());
});

for (const [index, example] of EXAMPLES.entries())
  test(`example ${index + 1} of rules is valid, and pledges ${example.amount}`, async () => {
    assert.ok(isValid(JSON.parse(example.settings)), JSON.stringify(isValid.errors));
    for (const system of Object.keys(SET)) {
      const { pledge, reason } = await preview(system, example);
      if (system === "stripe" && example.settings.includes('"item"'))
        assert.equal(reason, "No rule pledges anything for this order.");
      else
        assert.deepEqual(
          pledge?.pledges.map(({ impact }) => impact),
          [{ amount: example.amount, offeringId: "tree" }],
          `${system}: ${reason}`,
        );
    }
  });

test("its tables have every setting of a sum, of a rule and of a connection", () => {
  const { properties } = JSON.parse(read("docs/connection.schema.json"));
  const rule = properties.rules.items.properties;
  const names = [properties, rule, rule.sum.properties].flatMap((it) => Object.keys(it));
  const rows = new Set(
    PAGE.match(/^\s*\| `[^|]+/gm)?.flatMap((cell) => cell.match(/(?<=`)\w+(?=`)/g)),
  );
  const inExamples = ["rules", "offeringId", "basis", "sum"];
  assert.deepEqual(
    names.filter((name) => !rows.has(name) && !inExamples.includes(name)),
    [],
  );
});

// ---- Words ---------------------------------------------------------------------------------------

test("its table of outcomes has the words of the dashboard and of the commands", () => {
  const words = read(`${CONNECTIONS}/operation/read.rs`).matchAll(/Fate::(\w+) => "([^"]+)"/g);
  const outcomes = [...words].map(([, fate, label]) => `| ${label} | \`${fate.toLowerCase()}\` |`);
  assert.ok(outcomes.length >= 11);
  assert.deepEqual(
    outcomes.filter((row) => !PAGE.includes(row)),
    [],
  );
});

test("each label that it names is one of the dashboard", () => {
  const pages = ["connection", "missed", "list"].map((page) => `page/${page}`);
  const others = ["../shops/page/unit", "../orders/page/transaction/details"];
  const code = ["operation/arguments", "operation/change", "operation/read", ...pages, ...others]
    .map((file) => read(`${CONNECTIONS}/${file}.rs`))
    .join("");
  // A label is bold, and no sentence.
  const labels = new Set([...PAGE.matchAll(/\*\*([A-Z][^*]*[^*.:?])\*\*/g)].map(([, it]) => it));
  assert.ok(labels.size >= 12, `${labels.size}`);
  assert.deepEqual(
    [...labels].filter((label) => !code.includes(`"${label}"`)),
    [],
  );
});

test("its table of statuses has those that count as paid", () => {
  for (const [system, member] of [
    ["woocommerce", "status"],
    ["shopify", "financial_status"],
    ["stripe", "payment_status"],
  ]) {
    const table = read(`src/pledges/orders/tables/${system}.rs`);
    const [, paid = ""] = table.match(/Payment::Paid, &\[([^\]]+)\]/) ?? [];
    const statuses = [...paid.matchAll(/=(\w+)"/g)].map(([, status]) => `\`${status}\``);
    assert.ok(statuses.length > 0);
    assert.ok(PAGE.includes(`\`${member}\` | ${statuses.join(", ")} |`), `${system}: ${statuses}`);
  }
});
