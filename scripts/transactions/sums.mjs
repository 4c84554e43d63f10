/** `npm run transactions -- usage|quantities|export`: sums of months. */
import { writeFileSync } from "node:fs";
import { Option, onRecords } from "../lib/command.mjs";
import { newFile } from "../lib/new-file.mjs";
import { operator } from "../lib/operator.mjs";
import { placeInWords, table } from "../lib/output.mjs";
import { HEADS, cells, completeInWords, counted, inMonth, mode, shownMore } from "./words.mjs";

const SUM_HEADS = ["UNIT", "MODE", "TRANSACTIONS", "SUM", "CURRENCY", "UNPRICED"];
const PAID_HEADS = ["SETTLED", "PAID", "INVOICE"];
const sumCells = ({ unit, mode, transactions, amount, currencyCode, unpriced, settled }) => [
  unit,
  mode,
  String(transactions),
  amount,
  currencyCode,
  counted(unpriced),
  ...(settled ? [settled.amount ?? "0.00", settled.paidAt, settled.invoice] : []),
];

const summing = (transactions, name, description, month, ofMode = mode()) =>
  transactions
    .command(name)
    .description(description)
    .addOption(month)
    .option("--unit <unit>", "only this unit's")
    .addOption(ofMode);

/**
 * Sums what is meant.
 * @param {(query: any) => Promise<any>} sumBy
 * @param {Record<string, any>} options
 * @param {string} none in words
 */
async function sumUp(sumBy, options, none) {
  const { unit, mode, month, unpriced = false, unpaid = false } = options;
  const wanted = { unit, mode: mode === "both" ? undefined : mode };
  const { sums: all, transactions, ...more } = await sumBy({ wanted, month, unpaid });
  const sums = unpriced ? all.filter((sum) => sum.unpriced > 0) : all;
  const found = sums.length === 0 ? none : sumsInWords(sums, month);
  return {
    data: { month: month ?? null, sums, transactions, ...shownMore(more) },
    words: found + lateInWords(sums) + completeInWords(more),
  };
}

/** With the month of each, where it is not one that was asked for. */
function sumsInWords(sums, month) {
  const heads = sums.some(({ settled }) => settled) ? [...SUM_HEADS, ...PAID_HEADS] : SUM_HEADS;
  if (month !== undefined) return table(heads, sums.map(sumCells));
  const rows = sums.map((sum) => [sum.month, ...sumCells(sum)]);
  return table(["MONTH", ...heads], rows);
}

/** Orders that came after their month was marked as paid. */
function lateInWords(sums) {
  const lines = sums
    .filter(({ late }) => late)
    .map(({ unit, mode, month, late }) => `${month} of ${unit} (${mode}): ${late.join(", ")}`);
  if (lines.length === 0) return "";
  return `\n\nAdded to the ledger or changed since the month was marked as paid:\n${[...new Set(lines)].join("\n")}`;
}

const MOST_EXAMPLES = 20;

export function addUsage(transactions) {
  const sum = summing(
    transactions,
    "usage",
    "sums by unit, of a month or of each month",
    inMonth(),
  ).option(
    "--unpriced",
    "only sums with an offering that had no price, and so cost nothing, and the newest such transactions; exit code 1 if there are any",
  );
  onRecords(sum, async ({ tools, port, print }) => {
    const options = sum.opts();
    const { unit, mode, month, unpriced } = options;
    const { sumTransactions, listTransactions } = await operator(tools);
    const none = unpriced ? "every offering of these transactions had a price" : "no transactions";
    const { data, words } = await sumUp((query) => sumTransactions(port, query), options, none);
    if (!unpriced) return print(data, () => words);
    transactions.exitCode = data.sums.length > 0 ? 1 : 0;
    const query = { wanted: { unit, mode }, month, unpriced };
    const { orders } = await listTransactions(port, query, MOST_EXAMPLES + 1);
    const examples = orders.slice(0, MOST_EXAMPLES);
    const more = orders.length > examples.length;
    return print({ ...data, examples }, () =>
      [words, ...examplesInWords(examples, more)].join("\n\n"),
    );
  });
}

function examplesInWords(examples, more) {
  if (examples.length === 0) return [];
  const others = more ? ["There are more: `list --unpriced` prints them."] : [];
  return [table(HEADS, examples.map(cells)), ...others, "`show` prints the offerings of one."];
}

const MOST_OFFERINGS = 10_000;
const QUANTITY_HEADS = ["OFFERING", "QUANTITY", "TRANSACTIONS", "MODE"];

export function addQuantities(transactions) {
  const pledged = summing(
    transactions,
    "quantities",
    "quantities that were pledged in a month, by offering",
    inMonth().makeOptionMandatory(),
    new Option("--mode <mode>", "those of live keys, of test keys, or of both")
      .choices(["live", "test", "both"])
      .default("live"),
  );
  onRecords(pledged, async ({ tools, port, print }) => {
    const { unit, mode, month } = pledged.opts();
    const { sumQuantities } = await operator(tools);
    const wanted = { unit, mode: mode === "both" ? undefined : mode };
    const found = await sumQuantities(port, { wanted, month }, MOST_OFFERINGS);
    const { quantities, ...more } = found;
    const rows = quantities.map(({ offering, quantity, transactions, mode }) => [
      offering,
      quantity,
      String(transactions),
      mode,
    ]);
    const words = () =>
      rows.length === 0
        ? `nothing was pledged in ${month}`
        : table(QUANTITY_HEADS, rows) +
          (more.more ? `\n\nThese are the first ${MOST_OFFERINGS} offerings: choose a unit.` : "");
    print({ month, mode, quantities, ...shownMore(more) }, () => words() + completeInWords(more));
  });
}

export function addExport(transactions) {
  const list = summing(
    transactions,
    "export",
    "sums of a month by unit, and its transactions as CSV",
    inMonth().makeOptionMandatory(),
    new Option("--mode <mode>", "those of live keys, of test keys, or of both")
      .choices(["live", "test", "both"])
      .default("live"),
  )
    .option("--unpaid", "only of units whose month is not marked as paid (`npm run payments`)")
    .option(
      "--csv [file]",
      "the transactions, too, a line for each pledge, into a new file; without one on standard output, and the sums on standard error",
    )
    .hook("preAction", () => {
      const { csv, json } = list.opts();
      if (csv === true && json) list.error("`--csv` with `--json` needs a file");
    });
  onRecords(list, async ({ tools, kv, port, print, terminal }) => {
    const options = list.opts();
    const { mode, csv } = options;
    const { sumTransactions, exportTransactions } = await operator(tools);
    const sums = (sumBy) => sumUp(sumBy, options, noneIn(options));
    const intoCsv = (write) => sums((query) => exportTransactions(port, query, write));
    if (csv === true) {
      const { words } = await intoCsv(terminal.out);
      return terminal.err(`${placeInWords(kv.place)}\n\n${words}\n`);
    }
    const { data, words } = await (csv === undefined
      ? sums((query) => sumTransactions(port, query))
      : newFile(csv, ({ fd }) => intoCsv((text) => writeFileSync(fd, text))));
    return print({ ...data, mode, file: csv ?? null }, () => words);
  });
}

/** @param {any} options */
const noneIn = ({ mode, month, unpaid }) =>
  ["no", unpaid && "unpaid", mode !== "both" && mode, `transactions in ${month}`]
    .filter(Boolean)
    .join(" ");
