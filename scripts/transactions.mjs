/** `npm run transactions -- find|show|erase|usage|export|backup|restore`: the recorded transactions of the local or the deployed service. */
import { closeSync, openSync, renameSync, writeFileSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import { backup, restore } from "./lib/backup.mjs";
import { InvalidArgumentError, Option, command, confirm, onRecords } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { placeInWords, table } from "./lib/output.mjs";

const transactions = command("npm run transactions --", "Recorded transactions of the service.");
const mode = () =>
  new Option("--mode <mode>", "only those of test keys, or of live keys").choices(["test", "live"]);
/** @param {{amount?: string, currencyCode?: string}} charge */
const charged = ({ amount, currencyCode }) => `${amount} ${currencyCode}`;
const counted = (count) => (count > 0 ? String(count) : "");
const damagedInWords = ({ count, first }) =>
  count === 0 ? "" : `\n\n${count} records are damaged and left out, \`${first}\` first.`;

const HEADS = ["ID", "TIME", "MODE", "CHARGE", "UNPRICED", "ERASED"];
const cells = ({ id, createdAt, mode, unpriced, erased, ...charge }) => [
  id,
  createdAt,
  mode,
  charged(charge),
  counted(unpriced),
  erased ?? "",
];

// ---- Find and show -------------------------------------------------------------------------------

const search = transactions
  .command("find")
  .description("find a unit's transactions by what a caller knows");
search
  .requiredOption("--unit <unit>", "ID of the unit")
  .addOption(mode())
  .addOption(new Option("--reference <text>", "the shop's reference, in full").conflicts("email"))
  .option("--email <address>", "the recipient's e-mail address, in full")
  .hook("preAction", () => {
    const { reference, email } = search.opts();
    if ((reference ?? email) === undefined)
      search.error("say what to look for: `--reference` or `--email`");
  });
onRecords(search, async ({ tools, port, print }) => {
  const { unit, mode, reference, email } = search.opts();
  const by = reference === undefined ? { email } : { reference };
  const { findTransactions } = await operator(tools);
  const { transactions: rows, damaged } = await findTransactions(port, { unit, mode, by });
  const found = () => (rows.length === 0 ? "no such transaction" : table(HEADS, rows.map(cells)));
  print({ transactions: rows, damaged: damaged.count }, () => found() + damagedInWords(damaged));
});

const look = transactions
  .command("show")
  .description("print a transaction, its texts cut to their first characters")
  .argument("<id>", "as `find` shows it");
look
  .option("--reveal", "whole texts")
  .option("--timeline", "with the timeline's address, which opens it to whoever has it");
onRecords(look, async ({ tools, port, print }, id) => {
  const { reveal = false, timeline = false } = look.opts();
  const { showTransaction } = await operator(tools);
  const view = await showTransaction(port, id, { reveal, timeline });
  print(view, () => shown(view));
});

const shown = (view) =>
  `${table(["", ""], linesOf(view)).trimStart()}\n\n${pledgesOf(view.transaction)}`;

function linesOf({ row, repeatable, transaction }) {
  const { reference, trigger, pledges, notifications, timelineUrl } = transaction;
  const { email, firstName, name } = pledges[0]?.recipient ?? {};
  const unpriced = row.unpriced > 0 ? `, ${row.unpriced} of the pledges without a price` : "";
  const state = [
    row.erased && `erased ${row.erased}`,
    repeatable && "made with an Idempotency-Key",
  ];
  const list = (...texts) => texts.filter(Boolean).join(", ");
  return [
    ["ID", row.id],
    ["Created", row.createdAt],
    ["Mode", row.mode],
    ["Unit", row.unit],
    ["Charge", charged(row) + unpriced],
    ["Reference", reference],
    ["Recipient", list(email, firstName, name)],
    ["Trigger", list(trigger.date, trigger.phrase, trigger.externalUrl)],
    [
      "Notifications",
      list(...(notifications ?? []).map(({ type, status }) => `${type} ${status}`)),
    ],
    ["Record", list(...state)],
    ["Timeline", timelineUrl],
  ].filter(([, text]) => text);
}

function pledgesOf({ pledges }) {
  const texts = (details) => details.flatMap((detail) => Object.values(detail)).filter(Boolean);
  const rows = pledges.map(({ impact, details }) => [
    impact.offeringId,
    String(impact.amount),
    texts(details).join(", "),
  ]);
  return table(["OFFERING", "AMOUNT", "DETAIL"], rows);
}

// ---- Erase ---------------------------------------------------------------------------------------

const remove = transactions
  .command("erase")
  .description("replace the recipient and all texts of a transaction for good")
  .argument("<id>", "as `find` shows it");
remove.option("--yes", "without asking");
onRecords(remove, async ({ tools, kv, port, print, terminal }, id) => {
  const { checkErasable, eraseTransaction } = await operator(tools);
  await checkErasable(port, id);
  const question = `Erase ${id} of ${placeInWords(kv.place)}? This cannot be undone.`;
  const { yes } = remove.opts();
  await confirm({ question, yes, otherwise: "nothing was erased" }, terminal);
  const { before } = await eraseTransaction(port, id);
  const erased = `${id} is erased${before ? `, as it was on ${before}` : ""}`;
  const after =
    "Within about a minute the service shows it so everywhere. Backups still have it, and so has the shop.";
  print(
    { id, erased: true, before },
    () => `${erased}: amounts, offerings, times and charge stay. ${after}`,
  );
});

// ---- Usage and export ----------------------------------------------------------------------------

const inMonth = () =>
  new Option("--month <month>", "such as 2026-11, in UTC").argParser((text) => {
    if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
    throw new InvalidArgumentError("It must be a year and a month, such as 2026-11.");
  });

const SUM_HEADS = ["UNIT", "MODE", "TRANSACTIONS", "SUM", "CURRENCY", "UNPRICED"];
const sumCells = ({ unit, mode, transactions, amount, currencyCode, unpriced }) => [
  unit,
  mode,
  String(transactions),
  amount,
  currencyCode,
  counted(unpriced),
];

const summing = (name, description, month) =>
  transactions
    .command(name)
    .description(description)
    .addOption(month)
    .option("--unit <unit>", "only this unit's")
    .addOption(mode());

/**
 * Sums what is meant, and hands on the transactions of each page.
 * @param {{tools: any, port: any}} at
 * @param {Record<string, any>} options
 * @param {string} none in words
 * @param {(rows: any[]) => void} onRows
 */
async function sumUp({ tools, port }, options, none, onRows) {
  const { unit, mode, month, unpriced = false } = options;
  const { sumTransactions } = await operator(tools);
  const wanted = { wanted: { unit, mode }, month, unpriced };
  const { sums, transactions, damaged } = await sumTransactions(port, wanted, onRows);
  const found = sums.length === 0 ? none : table(SUM_HEADS, sums.map(sumCells));
  return {
    data: { month: month ?? null, sums, transactions, damaged: damaged.count },
    words: found + damagedInWords(damaged),
  };
}

const MOST_EXAMPLES = 20;

const sum = summing("usage", "sums by unit, of a month or of all time", inMonth()).option(
  "--unpriced",
  "only transactions with an offering that had no price, and so cost nothing; exit code 1 if there are any",
);
onRecords(sum, async ({ tools, port, print }) => {
  const options = sum.opts();
  if (!options.unpriced) {
    const { data, words } = await sumUp({ tools, port }, options, "no transactions", () => {});
    return print(data, () => words);
  }
  const examples = [];
  const none = "every offering of these transactions had a price";
  const { data, words } = await sumUp({ tools, port }, options, none, (rows) =>
    examples.push(...rows.slice(0, MOST_EXAMPLES - examples.length)),
  );
  transactions.exitCode = data.transactions > 0 ? 1 : 0;
  return print({ ...data, examples }, () =>
    [words, ...examplesInWords(examples, data.transactions)].join("\n\n"),
  );
});

function examplesInWords(examples, count) {
  if (examples.length === 0) return [];
  const more = count > examples.length ? [`And ${count - examples.length} more.`] : [];
  return [table(HEADS, examples.map(cells)), ...more, "`show` prints the offerings of one."];
}

const COLUMNS = ["id", "createdAt", "mode", "unit", "amount", "currencyCode", "unpriced", "erased"];

const list = summing(
  "export",
  "sums of a month by unit, and its transactions as CSV",
  inMonth().makeOptionMandatory(),
)
  .option(
    "--csv [file]",
    "the transactions, too; without a file on standard output, and the sums on standard error",
  )
  .hook("preAction", () => {
    const { csv, json } = list.opts();
    if (csv === true && json) list.error("`--csv` with `--json` needs a file");
  });
onRecords(list, async ({ tools, kv, port, print, terminal }) => {
  const options = list.opts();
  const { month, csv } = options;
  const none = `no transactions in ${month}`;
  const sums = (onRows) => sumUp({ tools, port }, options, none, onRows);
  const { data, words } = await (csv === undefined ? sums(() => {}) : withCsv(csv, terminal, sums));
  if (csv === true) return terminal.err(`${placeInWords(kv.place)}\n\n${words}\n`);
  return print({ ...data, file: csv ?? null }, () => words);
});

/**
 * A file is there once it is whole. What a spreadsheet would take for a formula is text.
 * @template T @param {string | true} file `true`: standard output @param {import("./lib/output.mjs").Terminal} terminal @param {(write: (rows: any[]) => void) => Promise<T>} work
 */
async function withCsv(file, { out }, work) {
  const part = `${file}.part`;
  const output = file === true ? null : openSync(part, "w");
  const write = (text) => (output === null ? out(text) : writeFileSync(output, text));
  const format = { columns: COLUMNS, escape_formulas: true, record_delimiter: "windows" };
  write(stringify([], { ...format, header: true }));
  const done = await work((rows) => write(stringify(rows, format)));
  if (file === true || output === null) return done;
  closeSync(output);
  renameSync(part, file);
  return done;
}

// ---- Backup and restore --------------------------------------------------------------------------

const SECRET =
  "It holds personal data and the hashes of API keys: keep it as secret as the namespace.";

onRecords(
  transactions
    .command("backup")
    .description("write all records of the namespace into a file")
    .argument("<file>", "it must not exist"),
  async ({ kv, print }, file) => {
    const done = await backup(kv, file);
    print(
      { file, ...done },
      () => `${file}: ${done.count} records, SHA-256 ${done.sha256}\n\n${SECRET}`,
    );
  },
);

const OTHER_SECRET =
  "The namespace's secret is that of the backup now. API keys that only this place had keep the other one: repeats of their creates are not known to the keys of the backup, and the other way round.";

const back = transactions
  .command("restore")
  .description("write all records of a backup into the namespace")
  .argument("<file>", "as `backup` wrote it");
back.option("--overwrite", "also where the namespace has a record that differs");
onRecords(back, async ({ tools, kv, print }, file) => {
  const { overwrite } = back.opts();
  const { recordNames } = await operator(tools);
  const waitMs = kv.place.kind === "local" ? 0 : undefined;
  const done = await restore(kv, file, { names: await recordNames(), overwrite, waitMs });
  const { place, startedAt } = done.from;
  const lines = [
    `${done.written} records of ${file} are written and read back, ${done.same} were there already, ${done.expired} have expired since.`,
    `The backup was begun on ${startedAt} of ${placeInWords(place)}.`,
    ...(done.secretReplaced ? [OTHER_SECRET] : []),
  ];
  print({ file, ...done }, () => lines.join("\n"));
});

export default transactions;
