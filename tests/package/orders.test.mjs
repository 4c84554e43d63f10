/**
 * Tests that `impact-pledge/orders` reads the bodies in tests/fixtures/orders/read, and accepts the signatures in
 * tests/fixtures/orders/verify, as the service does.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const { OrderError, isPing, read, verify } = await project.load("impact-pledge/orders");

const rowsIn = (folder) =>
  fixturesIn(`orders/${folder}`).flatMap(({ file, rows }) =>
    rows.map((row) => ({ ...row, name: `${file}: ${row.name}` })),
  );

// ---- Bodies ----------------------------------------------------------------------------------------

function bodyOf({ body, json, hex, repeat }) {
  if (hex) return Buffer.from(hex, "hex");
  if (repeat) return repeat.before + repeat.text.repeat(repeat.times) + repeat.after;
  return json ?? JSON.stringify(body);
}

/**
 * Returns the event that a row expects. Of an order's sums, the package only reads the total. Its refunds do not have
 * that of the whole order which the service adds to a cancelled or refunded one.
 */
function expected({ event, content }) {
  if (event !== "order") return { event, content };
  const { sums, refunds = [], ...order } = content;
  const { total } = sums;
  const own = refunds.filter(({ id }) => id !== order.payment);
  if (total !== undefined) Object.assign(order, { total });
  if (own.length > 0) Object.assign(order, { refunds: own });
  return { event, content: order };
}

test("every body is read, as text and as bytes", () => {
  let count = 0;
  for (const row of rowsIn("read")) {
    if (row.only === "text") continue;
    const body = bodyOf(row);
    const forms = [body, Buffer.from(body)];
    for (const form of forms) {
      const reading = () => read(row.system, form);
      if (row.error)
        assert.throws(reading, (error) => isOrderError(error, row.error.code), row.name);
      else assert.deepEqual(reading(), expected(row.event), row.name);
    }
    count++;
  }
  assert.ok(count >= 150, `${count} rows`);
});

const isOrderError = (error, code) => {
  assert.ok(error instanceof OrderError);
  assert.deepEqual([error.name, error.code], ["OrderError", code]);
  assert.equal(error.message, `webhook refused as ${code}`);
  return true;
};

test("a body of 1 MB takes no more memory than its values", () => {
  const line = '{"id":1,"quantity":1},';
  const text = `{"id":7,"status":"processing","currency":"EUR","x":[${line.repeat(45_000)}1],"line_items":[]}`;
  assert.equal(read("woocommerce", text).content.id, "7");
});

/** Returns the list of lines in the body of an order. */
const LINES = {
  stripe: (body) => (body.data?.object ?? body).line_items?.data,
  shopify: (body) => body.line_items,
  woocommerce: (body) => body.line_items,
  bigcommerce: (body) => body.products,
  medusa: (body) => body.items,
};

test("an order of each system may have 300 lines", () => {
  for (const [system, linesOf] of Object.entries(LINES)) {
    const { body } = rowsIn("read").find((row) => {
      return row.system === system && row.event?.content.lines && row.body && linesOf(row.body);
    });
    const lines = linesOf(body);
    const [line] = lines.splice(0);
    for (let id = 1; id <= 300; id++) lines.push({ ...line, id, quantity: id });
    const found = read(system, JSON.stringify(body)).content.lines;
    const sum = found.reduce((all, { quantity }) => all + Number(quantity), 0);
    assert.deepEqual([found.length, sum], [300, (300 * 301) / 2], system);
  }
});

// ---- Signatures ------------------------------------------------------------------------------------

test("every signature is accepted or refused", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  for (const { name, system, headers, body, secrets, now, refusal } of rowsIn("verify")) {
    t.mock.timers.setTime(now);
    const all = [headers, ...(isLatin(headers) ? [new Headers(headers)] : [])];
    for (const given of all) {
      for (const form of [body, Buffer.from(body)]) {
        const verified = verify(system, given, form, secrets);
        if (refusal) await assert.rejects(verified, (error) => isOrderError(error, refusal), name);
        else assert.equal(await verified, undefined, name);
      }
    }
  }
});

test("the ping of WooCommerce is known by its body", () => {
  const rows = rowsIn("verify").filter(({ system, headers }) => {
    return system === "woocommerce" && Object.keys(headers).length === 0;
  });
  assert.ok(rows.some(({ ping }) => ping));
  for (const { name, body, ping = false } of rows)
    for (const form of [body, Buffer.from(body)]) assert.equal(isPing(form), ping, name);
});

/** `Headers` removes spaces around values, which no row is about that is refused for them. */
const isLatin = (headers) => Object.values(headers).every((value) => value === value.trim());

test("one secret may be given without a list, and Node's headers may be lists", async () => {
  const [row] = rowsIn("verify").filter(({ system, refusal }) => system === "shopify" && !refusal);
  const [secret] = row.secrets;
  assert.equal(await verify("shopify", row.headers, row.body, secret), undefined);
  const headers = { ...row.headers, "set-cookie": ["a", "b"] };
  assert.equal(await verify("shopify", headers, row.body, secret), undefined);
});

test("an unknown system has no signature and no table", async () => {
  await assert.rejects(verify("toString", {}, "", ""), { code: "missing" });
  assert.throws(() => read("toString", "{}"), TypeError);
});
