/** `npm run payments -- mark|undo|show|list`: the months that shops have paid, of the local or the deployed service. */
import {
  InvalidArgumentError,
  Option,
  YES,
  command,
  confirm,
  onRecords,
  readMonth,
  whole,
} from "./lib/command.mjs";
import { APPLIED_SECONDS } from "./lib/delays.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, placeInWords, table, visible } from "./lib/output.mjs";

const payments = command(
  "npm run payments --",
  "Months that shops have paid: the API then answers when, as `charge.paidAt`.",
);

const ofMonth = (name, description) =>
  payments
    .command(name)
    .description(description)
    .requiredOption("--unit <unit>", "ID of the unit")
    .addOption(
      new Option("--month <month>", "such as 2026-10, in UTC, by when transactions were created")
        .argParser(readMonth)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--mode <mode>", "the transactions of its live keys, or of its test keys")
        .choices(["live", "test"])
        .default("live"),
    );

/** @param {{unit: string, mode: string, month: string}} of */
const monthInWords = ({ unit, mode, month }) => `${month} of ${unit} (${mode})`;
const sumsInWords = ({ sums }) =>
  sums.map(({ amount, currencyCode }) => `${amount} ${currencyCode}`).join(" and ");
const LATER = `After about ${APPLIED_SECONDS} s the API answers so everywhere; nothing else changes.`;

// ---- Mark and undo -------------------------------------------------------------------------------

const isoOf = (text) => new Date(text).toISOString();

/** Reads a day, or a date-time with its offset, as a date-time in UTC. */
function readTime(text) {
  const form = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
  const isDay = (day) => !Number.isNaN(Date.parse(day)) && isoOf(day).startsWith(day);
  if (form.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)))
    return isoOf(text);
  throw new InvalidArgumentError("It must be a day or a date-time, such as 2026-11-05.");
}

const collected = (text, before = []) => [...before, text];

const add = ofMonth("mark", "mark a month as paid, if what was paid is its sum")
  .addOption(
    new Option("--amount <amount>", "what was paid, such as 1234.50; one for each currency")
      .argParser(collected)
      .makeOptionMandatory(),
  )
  .addOption(
    new Option(
      "--currency <code>",
      "of each amount, in their order; not needed where the month has one",
    )
      .argParser(collected)
      .default([], "the month's"),
  )
  .addOption(
    new Option("--paid-at <date>", "when, such as 2026-11-05, or a date-time with its offset")
      .argParser(readTime)
      .makeOptionMandatory(),
  )
  .requiredOption("--invoice <number>", "the number of the invoice")
  .addOption(
    new Option("--accept-unpriced <count>", "how many pledges without a price cost nothing")
      .argParser(whole(0, 1_000_000_000))
      .default(0),
  )
  .option("--yes", YES)
  .hook("preAction", () => {
    const { amount, currency } = add.opts();
    if (currency.length > 0 && currency.length !== amount.length)
      add.error("give `--currency` for each `--amount`, or for none");
    const unknown = currency.find((code) => !["USD", "GBP", "EUR"].includes(code));
    if (unknown !== undefined)
      add.error(`\`${visible(unknown)}\` is no currency: one of USD, GBP, EUR`);
  });
onRecords(
  add,
  async ({ tools, kv, port, print, terminal, by }) => {
    const { unit, mode, month, amount, currency, paidAt, invoice, acceptUnpriced, yes } =
      add.opts();
    const amounts = amount.map((amount, at) => ({ amount, currencyCode: currency[at] }));
    const payment = { of: { unit, mode, month }, amounts, paidAt, invoice, acceptUnpriced };
    const { checkPayment, markPaid } = await operator(tools);
    const who = await by();
    const { damaged, ...checked } = await checkPayment(port, who, payment);
    terminal.err(damagedInWords(damaged));
    const question = `Mark ${monthInWords(checked)} of ${placeInWords(kv.place)} as paid: ${sumsInWords(checked)} on ${paidAt}, invoice ${invoice}?`;
    await confirm({ question, yes, otherwise: "nothing was marked" }, terminal);
    const paid = await markPaid(port, who, payment);
    print(paid, () => `${monthInWords(paid)} is marked as paid.\n\n${marked([paid])}\n\n${LATER}`);
  },
  { changes: true },
);

const damagedInWords = ({ count, first }) =>
  count === 0
    ? ""
    : `${count} records of the unit are damaged and in no sum, \`${visible(first)}\` first.\n`;

const back = ofMonth("undo", "take back that a month was paid").option("--yes", YES);
onRecords(
  back,
  async ({ tools, kv, port, print, terminal, by }) => {
    const { yes, ...rest } = back.opts();
    const of = shopMonth(rest);
    const { undoPaid } = await operator(tools);
    const paid = await markedAs({ tools, port }, of, "nothing was undone: ");
    terminal.err(yes ? "" : `${marked([paid])}\n\n`);
    const question = `Take back that ${monthInWords(of)} of ${placeInWords(kv.place)} was paid?`;
    await confirm({ question, yes, otherwise: "nothing was undone" }, terminal);
    const undone = await undoPaid(port, await by(), of);
    print(undone, () => `${monthInWords(undone)} is not marked as paid any more. ${LATER}`);
  },
  { changes: true },
);

/** @param {any} options */
const shopMonth = ({ unit, mode, month }) => ({ unit, mode, month });

async function markedAs({ tools, port }, of, otherwise = "") {
  const { getPayment } = await operator(tools);
  const paid = await getPayment(port, of);
  if (paid) return paid;
  throw new UserError(`${otherwise}${visible(monthInWords(of))} is not marked as paid here`);
}

// ---- What is marked ------------------------------------------------------------------------------

const HEADS = [
  "MONTH",
  "MODE",
  "SUM",
  "CURRENCY",
  "TRANSACTIONS",
  "UNPRICED",
  "PAID",
  "INVOICE",
  "MARKED",
  "BY",
];

/** A line for each sum. */
const marked = (rows) =>
  table(
    HEADS,
    rows.flatMap(({ mode, month, sums, paidAt, invoice, by, at }) =>
      sums.map(({ amount, currencyCode, transactions, unpriced }) => [
        month,
        mode,
        amount,
        currencyCode,
        String(transactions),
        unpriced > 0 ? String(unpriced) : "",
        paidAt,
        invoice,
        at,
        by,
      ]),
    ),
  );

const look = ofMonth(
  "show",
  "print what was paid of a month, and its sum as the ledger has it now",
);
onRecords(look, async ({ tools, port, print }) => {
  const of = shopMonth(look.opts());
  const paid = await markedAs({ tools, port }, of);
  const now = port.ledger ? await sumsNow({ tools, port }, of) : null;
  const words = now ? `\n\nNow its sum is ${sumsInWords({ sums: now })}.` : "";
  print({ ...paid, now }, () => marked([paid]) + words);
});

async function sumsNow({ tools, port }, { unit, mode, month }) {
  const { sumTransactions, ledgerStatus } = await operator(tools);
  const { keptFrom } = await ledgerStatus(port);
  if (keptFrom && `${month}-01` < keptFrom.slice(0, 10)) return null;
  const { sums } = await sumTransactions(port, { wanted: { unit, mode }, month });
  return sums.map(({ settled: _, ...sum }) => sum);
}

const all = payments
  .command("list")
  .description("print the months of a unit that are marked as paid")
  .requiredOption("--unit <unit>", "ID of the unit")
  .addOption(
    new Option("--mode <mode>", "only those of test keys, or of live keys").choices([
      "test",
      "live",
    ]),
  );
onRecords(all, async ({ tools, port, print }) => {
  const { unit, mode } = all.opts();
  const { listPayments } = await operator(tools);
  const rows = await listPayments(port, unit, mode);
  print({ payments: rows }, () =>
    rows.length === 0 ? "no month is marked as paid" : marked(rows),
  );
});

export default payments;
