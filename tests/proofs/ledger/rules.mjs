/** The rules that must hold at the end of a run. Each rule yields a text for every violation. */
import { isDeepStrictEqual } from "node:util";
import { exact, plus, scientific } from "./exact.mjs";
import { acknowledgedOf } from "./run.mjs";
import { chargeOf, exactQuantities, groundsOf, recordsOf, rowOf, rowsOf } from "./truth.mjs";

const MOST_SHOWN = 300; // characters

/** @param {import("./run.mjs").History} history */
export async function factsOf(history) {
  const [records, rows, grounds] = await Promise.all([
    recordsOf(history.kv),
    rowsOf(history.kv),
    groundsOf(history.kv),
  ]);
  const { damaged } = history.planted;
  records.delete(damaged.slice("transaction:".length));
  return { ...history, records, rows, grounds, acknowledged: [...acknowledgedOf(history.answers)] };
}

/** @typedef {Awaited<ReturnType<typeof factsOf>>} Facts */

/** @param {Facts} facts @returns {string[]} */
export const violations = (facts) =>
  Object.entries(RULES).flatMap(([rule, check]) =>
    [...check(facts)].map((problem) => `${rule}: ${problem}`.slice(0, MOST_SHOWN)),
  );

/** @type {Record<string, (facts: Facts) => Iterable<string>>} */
const RULES = {
  *"a record has one row, and each column is as the record says"({ records, rows, grounds }) {
    for (const [id, record] of records) {
      const [expected, row] = [rowOf(id, record, grounds), rows.get(id)];
      if (!row) yield `${id} has no row`;
      else
        for (const [column, value] of Object.entries(expected))
          if (!isDeepStrictEqual(row[column], value))
            yield `${id}: \`${column}\` is ${row[column]}, and not ${value}`;
    }
  },

  *"a row has a record"({ records, rows }) {
    for (const id of rows.keys()) if (!records.has(id)) yield id;
  },

  *"a record's metadata and value agree"({ records, grounds }) {
    for (const [id, { value, metadata }] of records) {
      const { mode, summary } = metadata;
      const charge = exact(value.charge.amount);
      const expected = chargeOf(value.pledges, grounds.prices(mode, summary.prices));
      if (!summary.erased && scientific(charge) !== scientific({ digits: expected, power: -2 }))
        yield `${id} costs ${value.charge.amount}`;
      if (summary.createdAt !== value.createdAt) yield `${id} was created at ${summary.createdAt}`;
    }
  },

  *"what was acknowledged has a record, in the shop of its caller"({
    acknowledged,
    records,
    planted,
  }) {
    for (const { id, number, caller } of acknowledged) {
      const { mode, unit } = records.get(id)?.metadata ?? {};
      if (id !== planted.gone && (mode !== caller.mode || unit !== caller.unit))
        yield `${id} of ${number}: ${records.has(id) ? `${mode} ${unit}` : "no record"}`;
    }
  },

  *"a create has one ID, and an ID one create"({ acknowledged }) {
    const [owners, ids] = [new Map(), new Map()];
    for (const { id, number } of acknowledged) {
      if ((owners.get(id) ?? number) !== number)
        yield `${id} is of ${number} and ${owners.get(id)}`;
      if ((ids.get(number) ?? id) !== id) yield `${number} is ${id} and ${ids.get(number)}`;
      owners.set(id, number);
      ids.set(number, id);
    }
  },

  *"no reference is there twice"({ records }) {
    const ids = new Map();
    for (const [id, { value, metadata }] of records) {
      if (metadata.summary.erased || !value.reference.startsWith("load-")) continue;
      if (ids.has(value.reference))
        yield `${value.reference} is ${id} and ${ids.get(value.reference)}`;
      ids.set(value.reference, id);
    }
  },

  *"a record has what was pledged"({ acknowledged, records }) {
    for (const { id, payload } of acknowledged) {
      const record = records.get(id);
      if (!record || record.metadata.summary.erased) continue;
      const [pledged, kept] = [payload, record.value].map(({ pledges }) =>
        exactQuantities(pledges.map(({ impact }) => impact)),
      );
      if (!isDeepStrictEqual(pledged, kept)) yield `${record.value.reference}`;
    }
  },

  *"what was erased is erased in record and row, and names nobody"({ erased, records, rows }) {
    for (const id of erased) {
      const { metadata, value } = records.get(id) ?? {};
      if (!metadata?.summary.erased || rows.get(id)?.erased === null) yield id;
      const kept = JSON.stringify([value, rows.get(id)]).toLowerCase();
      if (/buyer-|änne|order-/.test(kept)) yield `${id} has ${kept}`;
    }
  },

  *"the findings are what was planted"({ checks, planted }) {
    const expected = [`damaged ${planted.damaged}`, `gone ${planted.gone}`];
    for (const { findings } of checks) {
      const found = findings.map(({ kind, name }) => `${kind} ${name}`).sort();
      if (!isDeepStrictEqual(found, expected)) yield JSON.stringify(found);
    }
  },

  *"a pass leaves nothing to a second one"({ checks: [, second] }) {
    const { missing, wrong, gone, damaged, refused } = second;
    const counts = { missing, wrong, gone, damaged, refused };
    if (!isDeepStrictEqual(counts, { missing: 0, wrong: 0, gone: 0, damaged: 1, refused: 0 }))
      yield JSON.stringify(counts);
  },

  *"creates are answered, unless what answers is killed"({ answers }) {
    for (const { order, outcomes } of answers)
      for (const { status = 0, text = "" } of outcomes)
        if (![0, 200, 503].includes(status)) yield `${order.number}: ${status} ${text}`;
  },
};

/**
 * Compares the sums in a command's output with the sums of the records.
 * @param {Facts} facts @param {any[]} printed the command's output
 */
export function sumViolations({ records }, printed) {
  const sums = new Map();
  for (const { value, metadata } of records.values()) {
    const { createdAt, charge } = value;
    const group = [createdAt.slice(0, 7), metadata.mode, metadata.unit, charge.currencyCode].join();
    const { count, amount } = sums.get(group) ?? { count: 0, amount: exact("0") };
    sums.set(group, { count: count + 1, amount: plus(amount, exact(charge.amount)) });
  }
  return differences(sums, printed, ({ month, mode, unit, currencyCode, transactions, amount }) => [
    [month, mode, unit, currencyCode].join(),
    { count: transactions, amount: exact(amount) },
  ]);
}

/**
 * Compares the quantities by offering in a command's output with the quantities in the records.
 * @param {Facts} facts
 * @param {string} month
 * @param {any[]} printed the command's output
 */
export function quantityViolations({ records }, month, printed) {
  const sums = new Map();
  for (const { value, metadata } of records.values()) {
    if (!value.createdAt.startsWith(month)) continue;
    const own = exactQuantities(value.pledges.map(({ impact }) => impact));
    for (const [offering, quantity] of own) {
      const group = [metadata.mode, offering].join();
      const { count, amount } = sums.get(group) ?? { count: 0, amount: exact("0") };
      sums.set(group, { count: count + 1, amount: plus(amount, quantity) });
    }
  }
  return differences(sums, printed, ({ mode, offering, quantity, transactions }) => [
    [mode, offering].join(),
    { count: transactions, amount: exact(quantity) },
  ]);
}

function differences(expected, printed, read) {
  const shown = ({ count, amount }) => `${count} with ${scientific(amount)}`;
  const lines = (pairs) => [...pairs].map(([group, sum]) => `${group}: ${shown(sum)}`).sort();
  const [all, found] = [lines(expected), lines(printed.map(read))];
  return [
    ...all.filter((line) => !found.includes(line)).map((line) => `not printed: ${line}`),
    ...found.filter((line) => !all.includes(line)).map((line) => `printed: ${line}`),
  ];
}
