/** `npm run transactions -- find|show|erase|export|backfill|backup|restore`: the recorded transactions of the local or the deployed service. */
import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { stringify } from "csv-stringify/sync";
import { backup, restore } from "./lib/backup.mjs";
import { InvalidArgumentError, Option, command, onRecords } from "./lib/command.mjs";
import { namespaceSecret, secretRecords } from "./lib/lookup.mjs";
import { operator } from "./lib/operator.mjs";
import { MODES, storedPrices } from "./lib/prices.mjs";
import { progress } from "./lib/progress.mjs";
import { UserError, placeInWords, table } from "./lib/output.mjs";
import { Tally, eachRead, eachTransaction } from "./lib/transactions.mjs";

const transactions = command("npm run transactions --", "Recorded transactions of the service.");
const mode = () =>
  new Option("--mode <mode>", "only those of test keys, or of live keys").choices(MODES);
const charged = ({ amount, currencyCode }) => (amount ? `${amount} ${currencyCode}` : "");
const HEADS = ["ID", "TIME", "MODE", "CHARGE", "UNPRICED", "ERASED"];
const cells = ({ id, createdAt, mode, unpriced, erased, ...charge }) => [
  id,
  createdAt,
  mode,
  charged(charge),
  unpriced > 0 ? String(unpriced) : "",
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
  .hook(
    "preAction",
    () =>
      void (
        search.opts().reference ??
        search.opts().email ??
        search.error("say what to look for: `--reference` or `--email`")
      ),
  );
onRecords(search, async ({ tools, kv, print }) => {
  const { unit, mode, reference, email } = search.opts();
  const wanted = { unit, mode, reference, email };
  const hashes = await operator(tools, "lookup-hashes", {
    ...wanted,
    records: await secretRecords(kv),
  });
  const [rows, tally] = [[], new Tally()];
  for await (const answer of eachTransaction({ tools, kv }, "find-transactions", () => ({
    ...wanted,
    hashes,
  }))) {
    rows.push(...answer.rows);
    tally.add(answer);
  }
  rows.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const { read, damaged } = tally;
  print(
    { transactions: rows, read, damaged },
    () =>
      (rows.length === 0 ? "no such transaction" : table(HEADS, rows.map(cells))) +
      tally.words("hashes"),
  );
});

const look = transactions
  .command("show")
  .description("print a transaction, its texts cut to their first characters")
  .argument("<id>", "as `find` shows it");
look
  .option("--reveal", "whole texts")
  .option("--timeline", "with the timeline's address, which opens it to whoever has it");
onRecords(look, async ({ tools, kv, print }, id) => {
  const { reveal = false, timeline = false } = look.opts();
  const record = await recordOf(tools, kv, id);
  const view = await operator(tools, "show-transaction", { record, reveal, timeline });
  print(view, () => shown(view));
});

/** @returns {Promise<{name: string, value: string, metadata: unknown}>} */
async function recordOf(tools, kv, id) {
  const name = await operator(tools, "transaction-name", id);
  const [record] = await Array.fromAsync(kv.read([name]));
  if (record.value === null)
    throw new UserError(`there is no transaction ${id} here: is it one of this place?`);
  return record;
}

function shown({
  row,
  findable,
  repeatable,
  transaction: { reference, trigger, pledges, notifications = [], timelineUrl },
}) {
  const { email, firstName, name } = pledges[0]?.recipient ?? {};
  const state = [
    row.erased
      ? `erased ${row.erased}`
      : findable
        ? "found by hashes"
        : "without hashes: `backfill` adds them",
    repeatable ? "made with an Idempotency-Key" : "",
  ];
  const lines = [
    ["ID", row.id],
    ["Created", row.createdAt],
    ["Mode", row.mode],
    ["Unit", row.unit],
    [
      "Charge",
      charged(row) + (row.unpriced > 0 ? `, ${row.unpriced} of the pledges without a price` : ""),
    ],
    ["Reference", reference],
    ["Recipient", [email, firstName, name].filter(Boolean).join(", ")],
    ["Trigger", [trigger.date, trigger.phrase, trigger.externalUrl].filter(Boolean).join(", ")],
    ["Notifications", notifications.map(({ type, status }) => `${type} ${status}`).join(", ")],
    ["Record", state.filter(Boolean).join(", ")],
    ["Timeline", timelineUrl],
  ];
  const detail = ({ impact, details }) => [
    impact.offeringId,
    String(impact.amount),
    details
      .flatMap((texts) => Object.values(texts))
      .filter(Boolean)
      .join(", "),
  ];
  return `${table(
    ["", ""],
    lines.filter(([, text]) => text),
  ).trimStart()}\n\n${table(["OFFERING", "AMOUNT", "DETAIL"], pledges.map(detail))}`;
}

// ---- Erase ---------------------------------------------------------------------------------------

const remove = transactions
  .command("erase")
  .description("replace the recipient and all texts of a transaction for good")
  .argument("<id>", "as `find` shows it");
remove.option("--yes", "without asking");
onRecords(remove, async ({ tools, kv, print }, id) => {
  const record = await recordOf(tools, kv, id);
  const {
    replay: known,
    search,
    erased: before,
  } = await operator(tools, "erasable", { record, nowMs: Date.now() });
  if (!remove.opts().yes)
    await confirm(`Erase ${id} of ${placeInWords(kv.place)}? This cannot be undone.`);
  const name = search ? await replayOf({ tools, kv }, record) : known;
  const replay = name ? { name, value: await kv.get(name) } : null;
  const { entries, erased } = await operator(tools, "erase-transaction", {
    record,
    replay,
    nowMs: Date.now(),
  });
  await kv.write(entries);
  if (!erased)
    throw new UserError(
      `the create of ${id} was broken off before its replay record was written, which is there now: nothing is erased yet, run the same command in 5 minutes`,
    );
  const after =
    "Within about a minute the service shows it so everywhere. Backups still have it, and so has the shop.";
  print(
    { id, erased: true, before },
    () =>
      `${id} is erased${before ? `, as it was on ${before}` : ""}: amounts, offerings, times and charge stay. ${after}`,
  );
});

async function confirm(question) {
  if (!process.stdin.isTTY)
    throw new UserError("add `--yes` to erase without being asked: nothing was erased");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${question} Type \`yes\`: `).catch(() => ""); // Ctrl-C, Ctrl-D
  prompt.close();
  if (answer.trim() !== "yes") throw new UserError("nothing was erased");
}

/** The name of the replay record of a transaction from before version 1: all have to be looked through. */
async function replayOf({ tools, kv }, { name }) {
  for await (const { replays } of eachReplay({ tools, kv })) {
    const hash = replays[name.slice("transaction:".length)];
    if (hash) return `idempotency:${hash}`;
  }
  return null;
}

/** The hashes that name replay records, by the IDs of transactions. */
async function* eachReplay({ tools, kv }) {
  const tell = progress("replay records looked through");
  let seen = 0;
  for await (const { names } of kv.pages("idempotency:")) {
    for await (const { read, ...replays } of eachRead(
      { tools, kv },
      "replays",
      () => ({}),
      names.map(({ name }) => name),
    ))
      yield { replays, read };
    tell((seen += names.length));
  }
}

// ---- Export --------------------------------------------------------------------------------------

const COLUMNS = ["id", "createdAt", "mode", "unit", "amount", "currencyCode", "unpriced", "erased"];

const sum = transactions
  .command("export")
  .description("sums of a month by unit, and its transactions as CSV");
sum
  .addOption(
    new Option("--month <month>", "such as 2026-11, in UTC").argParser(month).makeOptionMandatory(),
  )
  .option("--unit <unit>", "only this unit's")
  .addOption(mode())
  .option(
    "--csv [file]",
    "the transactions, too; without a file on standard output, and the sums on standard error",
  )
  .hook(
    "preAction",
    () =>
      sum.opts().csv === true && sum.opts().json && sum.error("`--csv` with `--json` needs a file"),
  );
onRecords(sum, async ({ tools, kv, print }) => {
  const { month, unit, mode, csv } = sum.opts();
  const [tally, output] = [new Tally(), csv && new Csv(csv)];
  let [sums, count] = [[], 0];
  for await (const answer of eachTransaction({ tools, kv }, "export-transactions", () => ({
    month,
    unit,
    mode,
    sums,
  }))) {
    ({ sums } = answer);
    count += answer.rows.length;
    tally.add(answer);
    output?.write(answer.rows);
  }
  output?.close();
  const { read, damaged } = tally;
  const cells = ({ unit, mode, transactions, amount, currencyCode, unpriced }) => [
    unit,
    mode,
    String(transactions),
    amount,
    currencyCode,
    unpriced > 0 ? String(unpriced) : "",
  ];
  const words = () =>
    (sums.length === 0
      ? `no transactions in ${month}`
      : table(["UNIT", "MODE", "TRANSACTIONS", "SUM", "CURRENCY", "UNPRICED"], sums.map(cells))) +
    tally.words("summary");
  if (csv === true) return process.stderr.write(`${placeInWords(kv.place)}\n\n${words()}\n`);
  print({ month, sums, transactions: count, read, damaged, file: csv ?? null }, words);
});

function month(text) {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError("It must be a year and a month, such as 2026-11.");
}

/** A file is there once it is whole. What a spreadsheet would take for a formula is text. */
class Csv {
  #file;
  #output;

  /** @param {string | true} file `true`: standard output */
  constructor(file) {
    this.#file = file;
    this.#output = file === true ? 1 : openSync(`${file}.part`, "w");
    this.write([Object.fromEntries(COLUMNS.map((name) => [name, name]))]);
  }

  write(rows) {
    const bytes = Buffer.from(
      stringify(rows, { columns: COLUMNS, escape_formulas: true, record_delimiter: "windows" }),
    );
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#output, bytes, done);
  }

  close() {
    if (this.#file === true) return;
    closeSync(this.#output);
    renameSync(`${this.#file}.part`, this.#file);
  }
}

// ---- Backfill ------------------------------------------------------------------------------------

onRecords(
  transactions
    .command("backfill")
    .description(
      "complete what earlier releases wrote, so that `find` and `export` need not read it",
    ),
  async ({ tools, kv, print }) => {
    const { stored: secret, entry } = await namespaceSecret(tools, kv);
    if (entry) await kv.write([entry]);
    const done = {
      keys: await completeKeys({ tools, kv }, secret),
      transactions: 0,
      young: 0,
      damaged: 0,
    };
    const catalogues = {};
    for (const mode of MODES) catalogues[mode] = (await storedPrices(tools, kv, mode)).catalogue;
    const complete = async (names, replays) => {
      const input = () => ({ secret, catalogues, replays, nowMs: Date.now() });
      for await (const { entries, young, damaged } of eachRead(
        { tools, kv },
        "complete-transactions",
        input,
        names,
      )) {
        await kv.write(entries);
        done.transactions += entries.length;
        done.young += young;
        done.damaged += damaged.length;
      }
    };
    if (await hasOld({ tools, kv })) {
      // Those that can be repeated come first: their metadata gets the name of the replay record.
      for await (const { replays } of eachReplay({ tools, kv }))
        await complete(
          Object.keys(replays).map((id) => `transaction:${id}`),
          replays,
        );
    }
    for await (const { old, unhashed, damaged } of eachTransaction(
      { tools, kv },
      "incomplete-transactions",
      () => ({}),
    )) {
      done.damaged += damaged.length;
      await complete([...old, ...unhashed], {});
    }
    const rest = [
      done.young > 0 && `${done.young} are younger than 10 minutes: run the same command later.`,
      done.damaged > 0 && `${done.damaged} are damaged and left as they are.`,
    ];
    print(done, () =>
      [
        `${done.transactions} transactions and ${done.keys} API keys were completed.`,
        ...rest.filter(Boolean),
      ].join("\n"),
    );
  },
);

/** Are there transactions from before version 1? */
async function hasOld(place) {
  for await (const { old } of eachTransaction(place, "incomplete-transactions", () => ({})))
    if (old.length > 0) return true;
  return false;
}

const LEAST_LIFE = 120; // seconds: KV takes no expiry within the next 60

/** One at a time: between its reading and its writing a key must not be revoked. */
async function completeKeys({ tools, kv }, secret) {
  let count = 0;
  for await (const { name, expiration } of kv.list("key:")) {
    if (expiration && expiration < Date.now() / 1000 + LEAST_LIFE) continue;
    const stored = await kv.get(name);
    const value =
      stored && (await operator(tools, "complete-key", { stored, secret }).catch(() => null)); // `keys list` shows the damaged ones
    if (!value) continue;
    await kv.write([{ key: name, value, expiration }]);
    count += 1;
  }
  return count;
}

// ---- Backup and restore --------------------------------------------------------------------------

const SECRET =
  "It holds personal data and the hashes of API keys: keep it as secret as the namespace.";

onRecords(
  transactions
    .command("backup")
    .description("write all records of the namespace into a file, or go on with that")
    .argument("<file>", "it must not exist"),
  async ({ kv, print }, file) => {
    const done = await backup(kv, file);
    print(
      { file, ...done },
      () =>
        `${file}: ${done.count} records, SHA-256 ${done.sha256}${done.resumed ? ", gone on with" : ""}\n\n${SECRET}`,
    );
  },
);

const back = transactions
  .command("restore")
  .description("write all records of a backup into the namespace, or go on with that")
  .argument("<file>", "as `backup` wrote it");
back.option("--overwrite", "also where the namespace has a record that differs");
onRecords(back, async ({ kv, print }, file) => {
  const { overwrite } = back.opts();
  const done = await restore(kv, file, {
    overwrite,
    waitMs: kv.place.kind === "local" ? 0 : undefined,
  });
  const { place, startedAt } = done.from;
  print(
    { file, ...done },
    () =>
      `${done.written} records of ${file} are written and read back, ${done.expired} have expired since.\nThe backup was begun on ${startedAt} of ${placeInWords(place)}.`,
  );
});

await transactions.parseAsync();
