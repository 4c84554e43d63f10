/**
 * Computes from the records in KV which rows the ledger must have. Uses its own arithmetic instead of the
 * project's code. Also reads the rows that the ledger has.
 */
import { createHmac } from "node:crypto";
import { ZERO, cents, exact, plus, scientific, sum, times, units } from "./exact.mjs";

const [CENT_PLACES, MILLIONTH_PLACES] = [2, 6];
const HASH_DIGITS = 32;
const PAGE = 2_000; // rows of an answer

/**
 * A row of the ledger, with the IDs of its unit and key. `quantities` is JSON.
 * @typedef {{id: string, mode: string, unit: string, created: number, currency: string, cents: number | null, amount: string | null, unpriced: number, email: string | null, reference: string | null, key: string | null, prices: number | null, erased: number | null, quantities: string}} Row
 */

/**
 * Returns all records of transactions, by ID.
 * @param {import("../../../scripts/lib/kv.mjs").Kv} kv
 * @returns {Promise<Map<string, {value: any, metadata: any}>>}
 */
export async function recordsOf(kv) {
  const records = new Map();
  for await (const { name, value, metadata } of kv.read(kv.names("transaction:")))
    records.set(name.slice("transaction:".length), { value: JSON.parse(value ?? ""), metadata });
  return records;
}

/** @param {import("./run.mjs").LedgerKv} kv @returns {Promise<Map<string, Row>>} */
export async function rowsOf(kv) {
  const sql = `SELECT json_object('id', t.id, 'mode', s.mode, 'unit', s.unit, 'created', t.created, 'currency', t.currency,
    'cents', t.cents, 'amount', t.amount, 'unpriced', t.unpriced, 'email', t.email, 'reference', t.reference,
    'key', iif(t.key IS NULL, NULL, ifnull(k.id, 'of another shop')), 'prices', t.prices, 'erased', t.erased,
    'quantities', t.quantities)
    FROM transactions t LEFT JOIN scopes s ON s.scope = t.scope LEFT JOIN keys k ON k.key = t.key AND k.scope = t.scope
    WHERE t.id > ?1 ->> '$' ORDER BY t.id LIMIT ${PAGE}`;
  const rows = new Map();
  for (let after = "", isMore = true; isMore; ) {
    const [page] = await kv.ledger.run([{ sql, parameter: JSON.stringify(after) }]);
    for (const row of page.map((text) => JSON.parse(text))) {
      if (rows.has(row.id)) throw new Error(`${row.id} has two rows`);
      rows.set(row.id, row);
    }
    after = [...rows.keys()].at(-1) ?? "";
    isMore = page.length === PAGE;
  }
  return rows;
}

/**
 * Returns what is needed to compute a row's hashes and charge: the secret and the price lists.
 * @param {import("../../../scripts/lib/kv.mjs").Kv} kv
 */
export async function groundsOf(kv) {
  const { secret } = JSON.parse((await kv.get("secret")) ?? "");
  const lists = new Map();
  for await (const { name, value } of kv.read(kv.names("prices:")))
    lists.set(name, JSON.parse(value ?? "").unitPrices);
  const seed = JSON.parse((await kv.get("catalogue:test")) ?? "").unitPrices;
  return {
    secret: Buffer.from(secret, "hex"),
    /** @returns {Record<string, string>} by offering */
    prices: (mode, time) => (time ? lists.get(`prices:${mode}:${time}`) : seed),
  };
}

/**
 * Returns the row that the ledger must have for a record.
 * @param {string} id @param {{value: any, metadata: any}} record @param {Awaited<ReturnType<typeof groundsOf>>} grounds
 * @returns {Row}
 */
export function rowOf(id, { value, metadata }, { secret, prices }) {
  const { mode, unit, summary } = metadata;
  const impacts = value.pledges.map(({ impact }) => impact);
  const charge = exact(value.charge.amount);
  const inCents = units(charge, CENT_PLACES);
  const isPriced = ({ offeringId }) => Object.hasOwn(prices(mode, summary.prices), offeringId);
  return {
    id,
    mode,
    unit,
    created: Date.parse(value.createdAt),
    currency: value.charge.currencyCode,
    cents: inCents,
    amount: inCents === null ? scientific(charge) : null,
    unpriced: impacts.filter((impact) => !isPriced(impact)).length,
    email: summary.erased
      ? null
      : keyedHash(secret, "email", [mode, unit], value.pledges[0].recipient.email.toLowerCase()),
    reference: summary.erased
      ? null
      : keyedHash(secret, "order number", [mode, unit], orderNumber(value.reference)),
    key: summary.key ?? null,
    prices: summary.prices ? Date.parse(summary.prices) : null,
    erased: summary.erased ? Date.parse(summary.erased) : null,
    quantities: JSON.stringify(quantitiesOf(impacts)),
  };
}

/** Returns the exact sum of the amounts for each offering, sorted by the UTF-8 bytes of the offerings. */
const quantitiesOf = (impacts) =>
  [...exactQuantities(impacts)]
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([offering, sum]) => [offering, units(sum, MILLIONTH_PLACES) ?? scientific(sum)]);

/** @returns {Map<string, import("./exact.mjs").Exact>} */
export function exactQuantities(impacts) {
  const sums = new Map();
  for (const { offeringId, amount } of impacts)
    sums.set(offeringId, plus(sums.get(offeringId) ?? ZERO, exact(String(amount))));
  return sums;
}

/**
 * Returns the charge for pledges at these prices, in cents.
 * @param {any[]} pledges
 * @param {Record<string, string>} prices
 */
export const chargeOf = (pledges, prices) =>
  cents(
    sum(
      pledges.map(({ impact: { offeringId, amount } }) =>
        times(exact(String(amount)), exact(prices[offeringId] ?? "0")),
      ),
    ),
  );

/**
 * Removes white space and leading `#` from a reference, and converts it to lower case. All references here
 * are ASCII.
 */
const orderNumber = (reference) => reference.replace(/\s/g, "").replace(/^#+/, "").toLowerCase();

/**
 * Returns the first 32 hex digits of the HMAC-SHA-256 of these texts. Each text is preceded by its length in
 * eight bytes.
 */
function keyedHash(secret, purpose, scope, own) {
  const mac = createHmac("sha256", secret);
  for (const text of [purpose, ...scope, own]) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    mac.update(length).update(text);
  }
  return mac.digest("hex").slice(0, HASH_DIGITS);
}
