/** `npm run transactions -- list|find|show|erase|usage|quantities|export|backup|restore`: the recorded transactions of the local or the deployed service. */
import { writeFileSync } from "node:fs";
import { backup } from "./lib/backup.mjs";
import { Option, command, confirm, onRecords, readMonth, whole } from "./lib/command.mjs";
import { SHOWN_SECONDS } from "./lib/delays.mjs";
import { increment } from "./lib/increment.mjs";
import { mailInWords } from "./lib/mail-state.mjs";
import { newFile } from "./lib/new-file.mjs";
import { Refusal, operator } from "./lib/operator.mjs";
import { UserError, placeInWords, table, visible } from "./lib/output.mjs";
import { restore } from "./lib/restore.mjs";

const transactions = command("npm run transactions --", "Recorded transactions of the service.");
const mode = () =>
  new Option("--mode <mode>", "only those of test keys, or of live keys").choices(["test", "live"]);
/** @param {{amount?: string, currencyCode?: string}} charge */
const charged = ({ amount, currencyCode }) => `${amount} ${currencyCode}`;
const counted = (count) => (count > 0 ? String(count) : "");
const damagedInWords = ({ count = 0, first = "" } = {}) =>
  count === 0 ? "" : `\n\n${count} records are damaged and left out, \`${first}\` first.`;

/** Up to when what the ledger says is complete; what Workers KV says has no `completeUpTo`. */
const completeInWords = ({ completeUpTo, completeFrom, damaged, leftOut }) => {
  if (completeUpTo === undefined) return "";
  const until = completeUpTo
    ? `Complete up to ${completeUpTo}. Later orders usually appear within seconds.`
    : "Orders may be missing: the ledger has not been compared with all records yet.";
  const from = completeFrom ? `\nOrders before ${completeFrom} are not in the ledger any more.` : "";
  return `\n\n${until}${from}${damagedInWords(damaged)}${leftOutInWords(leftOut)}`;
};

const leftOutInWords = ({ count, first } = { count: 0 }) =>
  count === 0
    ? ""
    : `\nOrders of any month with too many quantities, which are in no sum here: ${count}, first ${first}.`;

const HEADS = ["ID", "TIME", "UNIT", "MODE", "CHARGE", "UNPRICED", "ERASED"];
const cells = ({ id, createdAt, unit, mode, unpriced, erased, ...charge }) => [
  id,
  createdAt,
  unit,
  mode,
  charged(charge),
  counted(unpriced),
  erased ?? "",
];

const inMonth = () => new Option("--month <month>", "such as 2026-11, in UTC").argParser(readMonth);

// ---- Lists ---------------------------------------------------------------------------------------

const [PAGE, MOST] = [50, 1_000];

const newest = transactions
  .command("list")
  .description("print the newest transactions")
  .option("--unit <unit>", "only this unit's")
  .option("--key <id>", "only those that the API key of this ID created")
  .addOption(mode())
  .addOption(inMonth())
  .option("--unpriced", "only those with an offering that had no price, and so cost nothing")
  .addOption(
    new Option("--limit <count>", `at most so many, up to ${MOST}`)
      .argParser(whole(1, MOST))
      .default(PAGE),
  );
onRecords(newest, async ({ tools, port, print }) => {
  const { unit, mode, key, month, unpriced = false, limit } = newest.opts();
  const { listTransactions } = await operator(tools);
  const query = { wanted: { unit, mode }, key, month, unpriced };
  const { orders, ...more } = await listTransactions(port, query, limit);
  const words = () => (orders.length === 0 ? NONE : table(HEADS, orders.map(cells)));
  print({ transactions: orders, ...shownMore(more) }, () => words() + completeInWords(more));
});

/** Of damaged records, and of those left out, programs get the number. */
const shownMore = ({ damaged, leftOut, ...more }) => ({
  ...more,
  damaged: damaged?.count ?? 0,
  ...(leftOut && { leftOut: leftOut.count }),
});

const NONE = "no such transaction";

// ---- Find and show -------------------------------------------------------------------------------

const email = () => new Option("--email <address>", "the recipient's e-mail address, in full");
const yes = () => new Option("--yes", "skip the confirmation prompt");

const search = transactions
  .command("find")
  .description("find transactions by reference or e-mail address")
  .option("--unit <unit>", "only this unit's")
  .addOption(mode())
  .addOption(new Option("--reference <text>", "the shop's reference, in full").conflicts("email"))
  .addOption(email())
  .hook("preAction", () => {
    const { reference, email } = search.opts();
    if ((reference ?? email) === undefined)
      search.error("say what to look for: `--reference` or `--email`");
  });
onRecords(search, async ({ tools, port, print }) => {
  const { unit, mode, reference, email } = search.opts();
  const by = reference === undefined ? { email } : { reference };
  const { findTransactions } = await operator(tools);
  const found = await findTransactions(port, { wanted: { unit, mode }, by });
  const { transactions: rows, ...more } = found;
  const words = () =>
    rows.length === 0
      ? NONE
      : table(HEADS, rows.map(cells)) + (more.more ? `\n\n${THERE_ARE_MORE}` : "");
  print({ transactions: rows, ...shownMore(more) }, () => words() + completeInWords(more));
});

const THERE_ARE_MORE = `These are the newest ${MOST}. Choose a unit or a mode to see others.`;

const look = transactions
  .command("show")
  .description("print a transaction, its texts cut to their first characters")
  .argument("<id>", "as `find` shows it");
look
  .option("--reveal", "whole texts, which the record of changes notes")
  .option(
    "--timeline",
    "with the timeline's address, which opens it to whoever has it: noted, too",
  );
onRecords(
  look,
  async ({ tools, port, print, by }, id) => {
    const { reveal = false, timeline = false } = look.opts();
    const { showTransaction } = await operator(tools);
    const who = reveal || timeline ? await by() : undefined;
    const view = await showTransaction(port, who, id, { reveal, timeline });
    print(view, () => shown(view));
  },
  { changes: true },
);

const shown = (view) => `${table(["", ""], linesOf(view)).trimStart()}\n\n${pledgesOf(view)}`;

function linesOf({ row, repeatable, key, prices, transaction, mail }) {
  const { reference, charge, trigger, pledges, notifications, timelineUrl } = transaction;
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
    ["Paid", charge.paidAt],
    ["Reference", reference],
    ["Recipient", list(email, firstName, name)],
    ["Trigger", list(trigger.date, trigger.phrase, trigger.externalUrl)],
    [
      "Notifications",
      list(...(notifications ?? []).map(({ type, status }) => `${type} ${status}`)),
    ],
    ["E-mail", mail.state !== "not-asked" && mailInWords(mail)],
    ["Prices", prices && `of ${prices.time}, set by ${prices.by}`],
    ["API key", key],
    ["Record", list(...state)],
    ["Timeline", timelineUrl],
  ].filter(([, text]) => text);
}

function pledgesOf({ transaction: { pledges }, prices }) {
  const texts = (details) => details.flatMap((detail) => Object.values(detail)).filter(Boolean);
  const rows = pledges.map(({ impact, details }) => [
    impact.offeringId,
    String(impact.amount),
    prices?.unitPrices[impact.offeringId],
    texts(details).join(", "),
  ]);
  return table(["OFFERING", "AMOUNT", "PRICE", "DETAIL"], rows);
}

// ---- Erase ---------------------------------------------------------------------------------------

const remove = transactions
  .command("erase")
  .description("replace the recipient and all texts of transactions for good")
  .argument("[id]", "as `find` shows it; without it, all transactions of an address")
  .addOption(email())
  .option(
    "--unit <unit>",
    "with --email: only this unit's; without it, those of each unit in which the ledger finds the address",
  )
  .addOption(mode())
  .addOption(yes())
  .hook("preAction", () => {
    const [{ email, unit, mode }, [id]] = [remove.opts(), remove.args];
    if ((id === undefined) === (email === undefined))
      remove.error("say what to erase: the ID of a transaction, or `--email`");
    if (id !== undefined && (unit ?? mode) !== undefined)
      remove.error("`--unit` and `--mode` go with `--email`");
  });
onRecords(
  remove,
  async (at, id) => {
    if (id === undefined) return eraseAddress(at);
    const { tools, kv, port, print, terminal, by } = at;
    const { checkErasable, eraseTransaction } = await operator(tools);
    await checkErasable(port, id);
    const question = `Erase ${id} of ${placeInWords(kv.place)}? This cannot be undone.`;
    const { yes } = remove.opts();
    await confirm({ question, yes, otherwise: NOTHING_ERASED }, terminal);
    const { before } = await eraseTransaction(port, await by(), id);
    const erased = `${id} is erased${before ? `, as it was on ${before}` : ""}`;
    return print({ id, erased: true, before }, () => `${erased}: ${AFTER}`);
  },
  { changes: true },
);

const NOTHING_ERASED = "nothing was erased";
const AFTER = `amounts, offerings, times and charge stay. After about ${SHOWN_SECONDS} s the service shows it so everywhere. Backups still have it, and so has the shop.`;

/**
 * Erases what has an address, and prints a receipt, which does not have it. Of each unit all records are checked, as the
 * ledger may lack one.
 */
async function eraseAddress(at) {
  const { tools, kv, port, print, terminal, by } = at;
  const { email, unit, mode, yes } = remove.opts();
  const { findTransactions } = await operator(tools);
  const found = await findTransactions(port, { wanted: { unit, mode }, by: { email } });
  const { transactions: rows, ...more } = found;
  const units = unit === undefined ? [...new Set(rows.map(({ unit }) => unit))] : [unit];
  if (units.length > 0) {
    if (!yes) terminal.err(`${table(HEADS, rows.map(cells))}${completeInWords(more)}\n\n`);
    const question = `Check all records of ${units.join(", ")} of ${placeInWords(kv.place)}, and erase these ${rows.length} transactions and any others of the address? This cannot be undone.`;
    await confirm({ question, yes, otherwise: NOTHING_ERASED }, terminal);
  }
  const receipt = { by: await by(), transactions: [], checked: 0, damaged: 0 };
  for (const unit of units) await eraseIn(at, { wanted: { unit, mode }, email }, receipt);
  const left = receipt.transactions.filter(({ erased }) => !erased).length;
  transactions.exitCode = left > 0 || more.more ? 1 : 0;
  const others = more.more ? `\n\n${THERE_ARE_OTHERS}` : "";
  print({ ...receipt, completeUpTo: more.completeUpTo }, () => {
    const damaged = receipt.damaged > 0 ? `\n\n${receipt.damaged} ${NOT_CHECKED}` : "";
    return receiptInWords(receipt, left) + others + completeInWords(more) + damaged;
  });
}

const THERE_ARE_OTHERS = `The ledger has more than ${MOST} of the address: run the same command again.`;
const NOT_CHECKED = "records are damaged and were not checked.";
const STEP = 100; // transactions that are erased before the receipt has them

/** What can't be erased, such as one that is too young, keeps none of the others. */
async function eraseIn({ tools, port, terminal }, { wanted, email }, receipt) {
  const { erasePerson } = await operator(tools);
  let next = null;
  try {
    do {
      const step = await erasePerson(port, receipt.by, { wanted, email, next }, STEP);
      addStep(receipt, wanted, step);
      next = step.next;
    } while (next !== null);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    terminal.err(`${receiptInWords(receipt, 0)}\n\n`);
    throw Object.assign(error, { data: receipt });
  }
}

function addStep(receipt, wanted, { erased, refused, damaged, listed }) {
  receipt.checked += listed;
  receipt.damaged += damaged.count;
  const rows = erased.map(({ id, unit, mode, at }) => ({ id, unit, mode, erased: at }));
  const others = refused.map(([id, problem]) => ({ id, ...wanted, erased: null, problem }));
  const isNew = ({ id }) => receipt.transactions.every((known) => known.id !== id);
  receipt.transactions.push(...[...rows, ...others].filter(isNew));
}

function receiptInWords({ by, transactions: rows }, left) {
  if (rows.length === 0) return `${NONE}: ${NOTHING_ERASED}`;
  const shown = rows.map(({ id, unit, mode = "", erased, problem }) => [
    id,
    unit,
    mode,
    erased ?? problem,
  ]);
  const count = `${rows.length - left} of ${rows.length} transactions are erased, by ${visible(by)}`;
  const again = left > 0 ? " Run the same command again for the others." : "";
  return `${table(["ID", "UNIT", "MODE", "ERASED"], shown)}\n\n${count}: ${AFTER}${again}`;
}

// ---- Usage and export ----------------------------------------------------------------------------

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

const summing = (name, description, month, ofMode = mode()) =>
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

const sum = summing("usage", "sums by unit, of a month or of each month", inMonth()).option(
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

function examplesInWords(examples, more) {
  if (examples.length === 0) return [];
  const others = more ? ["There are more: `list --unpriced` prints them."] : [];
  return [table(HEADS, examples.map(cells)), ...others, "`show` prints the offerings of one."];
}

const MOST_OFFERINGS = 10_000;
const QUANTITY_HEADS = ["OFFERING", "QUANTITY", "TRANSACTIONS", "MODE"];

const pledged = summing(
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

const list = summing(
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

/** @param {any} options */
const noneIn = ({ mode, month, unpaid }) =>
  ["no", unpaid && "unpaid", mode !== "both" && mode, `transactions in ${month}`]
    .filter(Boolean)
    .join(" ");

// ---- Backup and restore --------------------------------------------------------------------------

const SECRET =
  "It holds personal data and the hashes of API keys: keep it as secret as the namespace.";

const saved = transactions
  .command("backup")
  .description("write all records of the namespace into a file")
  .argument("<file>", "it must not exist")
  .option(
    "--since <file>",
    "only what was created or changed since the last backup, whose file this is: a full one, or one with `--since`; it needs the ledger",
  );
onRecords(
  saved,
  async (at, file) => {
    const { since } = saved.opts();
    const done =
      since === undefined
        ? await backup(at.kv, file)
        : await increment(at.kv, file, since, await operator(at.tools));
    const recorded = await recordBackup(at, since !== undefined, done);
    at.print({ file, ...done, recorded }, () => savedInWords(file, done));
  },
  { changes: true },
);

/** @param {string} file @param {{count: number, sha256: string, since?: string, completeUpTo?: string}} done */
function savedInWords(file, { count, sha256, since, completeUpTo }) {
  const span = since && `\nIt continues the last backup, from ${since} to ${completeUpTo}.`;
  return `${file}: ${count} records, SHA-256 ${sha256}${span ?? ""}\n\n${SECRET}`;
}

/** The backup is whole, also where nothing can be written into the namespace. @returns {Promise<boolean>} */
async function recordBackup({ tools, port, terminal, by }, isIncrement, { count }) {
  try {
    await (await operator(tools)).recordBackup(port, await by(), isIncrement, count);
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    terminal.err(`The backup is whole, and not recorded as the last one: ${error.message}\n`);
    return false;
  }
}

const OTHER_SECRET =
  "The namespace's secret is that of the backup now. API keys that only this place had keep the other one: repeats of their creates are not known to the keys of the backup, and the other way round.";

const back = transactions
  .command("restore")
  .description("write the records of a backup into the namespace, API keys left out")
  .argument("<file>", "a full backup, as `backup` wrote it")
  .argument("[increments...]", "all that continue it, by `backup --since`, in their order");
back
  .addOption(
    new Option(
      "--only <kind>",
      "leave all else as it is, such as in a place with keys of its own",
    ).choices(["transactions"]),
  )
  .addOption(
    new Option(
      "--with-keys",
      "also API keys, after they are shown: one that was revoked since works again",
    ).conflicts("only"),
  )
  .option("--overwrite", "also where the namespace has a record that differs")
  .option("--yes", "without asking");
onRecords(
  back,
  async ({ tools, kv, port, print, terminal, by }, file, increments) => {
    const { only, withKeys = false, overwrite, yes } = back.opts();
    const rules = await operator(tools);
    const agree = async (keys, hashes) => {
      if (withKeys && keys.count > 0) {
        terminal.err(`${keysInWords(keys)}\n\n`);
        const question = `Bring these API keys back into ${placeInWords(kv.place)}?`;
        await confirm({ question, yes, otherwise: "nothing was restored" }, terminal);
      }
      await rules.recordChange(port, await by(), "transactions restore", hashes);
    };
    const onlyTransactions = only === "transactions";
    const waitMs = kv.place.kind === "local" ? 0 : undefined;
    const options = { withKeys, onlyTransactions, overwrite, agree, waitMs };
    const done = await restore(kv, [file, ...increments], rules, options);
    const completeUpTo = await reconciled({ kv, port, terminal }, rules);
    print({ file, increments, ...done, completeUpTo }, () =>
      [restoredInWords(file, increments, done, withKeys), ...ledgerInWords(completeUpTo)].join(
        "\n",
      ),
    );
  },
  { changes: true },
);

/** Up to when the ledger has all transactions after a restore: null without one, or if it fails. @returns {Promise<string | null>} */
async function reconciled({ kv, port, terminal }, rules) {
  if (!kv.ledger) return null;
  try {
    await rules.reconcile(port);
    return (await rules.ledgerStatus(port)).completeUpTo;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    terminal.err(
      `All records are restored, and the ledger is not complete yet: ${error.message}\nRun \`npm run ledger -- check\`.\n`,
    );
    return null;
  }
}

const ledgerInWords = (completeUpTo) =>
  completeUpTo ? [`The ledger is complete up to ${completeUpTo}.`] : [];

function restoredInWords(file, increments, done, withKeys) {
  const { written, same, expired, erased, left, keys, secretReplaced, from } = done;
  const counts = [
    `${written} records of ${[file, ...increments].join(", ")} are written and read back`,
    `${same} were there already`,
    `${expired} have expired since`,
    `${erased} stay erased`,
    `${left} are left out`,
  ];
  const leftKeys = `\nOf the API keys that are left out, \`--with-keys\` would bring back what this place has not, revoked or not:\n\n${keysInWords(keys)}`;
  return [
    `${counts.join(", ")}.`,
    `The ${increments.length > 0 ? "last " : ""}backup was begun on ${visible(`${from.startedAt} of ${placeInWords(from.place)}`)}.`,
    ...(secretReplaced ? [OTHER_SECRET] : []),
    ...(withKeys || keys.count === 0 ? [] : [leftKeys]),
  ].join("\n");
}

function keysInWords({ count, examples }) {
  const rows = examples.map(({ id, mode, unit, team, label, problem }) => [
    id,
    mode,
    unit ?? team,
    label ?? problem,
  ]);
  const more = count > examples.length ? `\n\nAnd ${count - examples.length} more.` : "";
  return table(["ID", "MODE", "UNIT OR TEAM", "LABEL"], rows) + more;
}

export default transactions;
