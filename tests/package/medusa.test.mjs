/**
 * Tests the subscriber in examples/medusa with the packed package and the test service. A stub stands in for Medusa's container: its
 * `query.graph` returns only the fields that are asked for, with dates and amounts as objects, as Medusa does.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { fixturesIn } from "../support/fixtures.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { packed } from "./packed.mjs";

const SUBSCRIBER = "examples/medusa/src/subscribers/pledge-order.js";
const [{ order: ORDER, rows }] = fixturesIn("recipes").filter(({ file }) => file === "medusa.json");

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");
const service = createTestService();
const { origin, close } = await onLoopback(createServer(service.handler));
test.after(() => close());

Object.assign(process.env, {
  PLEDGE_API_KEY: "service_sk_test_dev_unit",
  PLEDGE_BASE_URL: origin,
  PLEDGE_OFFERING_ID: "tree",
  SHOP: "shop.example",
});
const folder = mkdtempSync(join(project.folder, "medusa-"));
test.after(() => rmSync(folder, { recursive: true }));
cpSync(join(import.meta.dirname, "../..", SUBSCRIBER), join(folder, "subscriber.mjs"));
const { config, default: subscriber } = await import(
  pathToFileURL(join(folder, "subscriber.mjs")).href
);

// ---- A stub of Medusa's container ------------------------------------------------------------------

/** An amount as Medusa returns it. */
class BigNumber {
  #value;
  constructor(value) {
    this.#value = value;
  }
  valueOf() {
    return this.#value;
  }
  toJSON() {
    return this.#value;
  }
}

const AMOUNTS = new Set(["amount", "captured_amount", "unit_price", "quantity"]);
const DATES = new Set(["created_at", "canceled_at"]);
const objectOf = (name, value) => {
  if (DATES.has(name) && value) return new Date(value);
  return AMOUNTS.has(name) && typeof value === "number" ? new BigNumber(value) : value;
};

/** Returns the fields of a record that were asked for: `*` is all that are not relations. */
function picked(record, fields) {
  const isRelation = (value) => Array.isArray(value) || (value?.constructor === Object && !!value);
  const own = Object.entries(record).flatMap(([name, value]) => {
    const below = fields
      .filter((field) => field.startsWith(`${name}.`))
      .map((field) => field.slice(name.length + 1));
    if (isRelation(value) && below.length > 0)
      return [
        [name, Array.isArray(value) ? value.map((it) => picked(it, below)) : picked(value, below)],
      ];
    const isAsked = fields.includes(name) || (fields.includes("*") && !isRelation(value));
    return isAsked ? [[name, objectOf(name, value)]] : [];
  });
  return Object.fromEntries(own);
}

/** Returns a shop with one order, and the container that its subscribers get. */
function shopWith(order) {
  const shop = { order, warnings: [] };
  const tables = {
    order: () => [shop.order],
    payment: () =>
      shop.order.payment_collections.flatMap((collection) =>
        collection.payments.map((it) => ({
          ...it,
          payment_collection: { ...collection, order: shop.order },
        })),
      ),
  };
  const query = {
    async graph({ entity, fields, filters }) {
      const found = shop.isGone ? [] : tables[entity]().filter(({ id }) => id === filters.id);
      return { data: found.map((it) => picked(it, fields)) };
    },
  };
  const logger = { warn: (text) => shop.warnings.push(text) };
  const services = { query, logger };
  return { shop, container: { resolve: (name) => services[name] } };
}

/** Returns a value with changes by JSON Pointer. */
function changed(value, changes = {}) {
  const copy = structuredClone(value);
  for (const [pointer, change] of Object.entries(changes)) {
    const names = pointer.split("/").slice(1);
    const last = names.pop();
    names.reduce((at, name) => at[name], copy)[last] = change;
  }
  return copy;
}

// ---- The rows --------------------------------------------------------------------------------------

test("it subscribes to the events about orders that are placed and paid", () =>
  assert.deepEqual(config, { event: ["order.placed", "payment.captured"] }));

const IDS = { "order.placed": "order_01", "payment.captured": "pay_1" };

/** Does what a step of a row says to the shop or to the service. */
function happen({ shop }, { at, gone, down, lost }) {
  if (at) shop.order = changed(shop.order, at);
  if (gone) shop.isGone = true;
  const times = 3; // the client repeats a create twice
  if (down) service.fail({ operation: "create", status: 503, times });
  if (lost) service.fail({ operation: "create", fault: "lost answer", times });
}

for (const { name, at, events, atOnce, pledged, warns, throws = 0 } of rows)
  test(name, async () => {
    service.reset();
    const medusa = shopWith(changed(ORDER, at));
    const failures = [];
    const emit = (event) =>
      subscriber({
        event: { name: event, data: { id: IDS[event] } },
        container: medusa.container,
      }).catch((error) => failures.push(error));
    if (atOnce) await Promise.all(events.map(emit));
    else
      for (const event of events)
        if (typeof event === "string") await emit(event);
        else happen(medusa, event);
    assert.equal(failures.length, throws, failures.join("\n"));
    const recorded = service.transactions();
    assert.deepEqual(
      recorded.map(({ reference }) => reference),
      pledged,
    );
    for (const { pledges } of recorded)
      assert.deepEqual(
        pledges.map(({ impact, recipient }) => [impact, recipient.email]),
        [[{ amount: 1, offeringId: "tree" }, "ada@example.org"]],
      );
    const keys = service.requests().map(({ headers }) => headers["idempotency-key"]);
    assert.ok(keys.every((key) => key === "medusa:shop.example:order_01"));
    assert.equal(medusa.shop.warnings.length, warns ? 1 : 0, medusa.shop.warnings.join("\n"));
    if (warns) assert.ok(medusa.shop.warnings[0].includes(warns), medusa.shop.warnings[0]);
  });
