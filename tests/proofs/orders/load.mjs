/** What the proof of orders sends, and at which times. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { figure, median } from "../bench/numbers.mjs";

const KEY = "service_sk_test_dev_unit";
/** Of so many orders, one is sent a second time, later. */
const REPEATED = 10;
/** The maximum number of requests under way. More would measure this machine's sockets. */
const MOST = 500;

/**
 * Returns orders to send. Those of both shops have the same IDs, and those of each round have others.
 * @param {number} round @param {number} count
 */
export function orders(round, count) {
  const all = [];
  for (let index = 0; index < count; index++) {
    const isRepeated = index % REPEATED === REPEATED - 1;
    const source = isRepeated ? index - REPEATED + 1 : index;
    const system = source % 2 === 0 ? "woocommerce" : "shopify";
    const id = round * 1_000_000 + Math.floor(source / 2) + 1;
    all.push({ system, id, isRepeated, body: JSON.stringify(BODIES[system](id)) });
  }
  return all;
}

const BODIES = {
  woocommerce: (id) => ({
    id,
    number: `${id}`,
    status: "processing",
    currency: "EUR",
    total: "39.90",
    date_paid_gmt: "2026-01-31T07:00:00",
    billing: { email: `buyer-${id}@woo.example`, first_name: "Ada", last_name: "Example" },
    line_items: [{ id: 1, name: "Mug", product_id: 11, sku: "MUG", quantity: 2, total: "39.90" }],
    refunds: [],
  }),
  shopify: (id) => ({
    id,
    name: `#${id}`,
    email: `buyer-${id}@shopify.example`,
    test: false,
    financial_status: "paid",
    currency: "EUR",
    total_price: "39.90",
    customer: { first_name: "Ada", last_name: "Example" },
    line_items: [{ id: 1, product_id: 11, sku: "MUG", title: "Mug", quantity: 2, price: "19.95" }],
    refunds: [],
  }),
};

/**
 * Does something so many times a second, whatever the answers take. Returns the values, and how long each took in milliseconds.
 * @template T
 * @param {number} rate @param {number} seconds @param {(index: number) => Promise<T>} work
 * @returns {Promise<{value: T, ms: number}[]>}
 */
export async function paced(rate, seconds, work) {
  const started = performance.now();
  const running = new Set();
  const all = [];
  for (let index = 0; index < rate * seconds; index++) {
    await sleep(Math.max(0, started + (index * 1_000) / rate - performance.now()));
    while (running.size >= MOST) await Promise.race(running);
    const timed = timedOf(() => work(index)).finally(() => running.delete(timed));
    running.add(timed);
    all.push(timed);
  }
  return Promise.all(all);
}

async function timedOf(work) {
  const started = performance.now();
  const value = await work();
  return { value, ms: performance.now() - started };
}

/** Creates a transaction. Returns its ID. */
export async function create(service, name) {
  const answer = await service.fetch("https://service.example/v2/pledge-transaction", {
    method: "POST",
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      "idempotency-key": name,
    },
    body: JSON.stringify({
      reference: name,
      recipient: { email: "ada@example.org" },
      pledges: [{ impact: { offeringId: "tree", amount: 1 } }],
    }),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text).id;
}

/** Returns the count, the median, the 95th percentile and the maximum as texts. @param {number[]} values */
export function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.ceil(share * sorted.length) - 1];
  return [`${values.length}`, figure(median(values)), figure(at(0.95)), figure(at(1))];
}
