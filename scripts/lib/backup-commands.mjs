/** `npm run transactions -- backup|restore`: all records of a namespace. */
import { backup } from "./backup.mjs";
import { YES, Option, confirm, onRecords } from "./command.mjs";
import { increment } from "./increment.mjs";
import { operate } from "./operations.mjs";
import { operator } from "./operator.mjs";
import { UserError, placeInWords, table, visible } from "./output.mjs";
import { calledAs } from "./places.mjs";
import { restore } from "./restore.mjs";

const SECRET =
  "It holds personal data and the hashes of API keys: keep it as secret as the namespace.";

export function addBackup(transactions) {
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
      at.print({
        data: JSON.stringify({ file, ...done, recorded }),
        text: savedInWords(file, done),
      });
    },
    { isRecorded: true },
  );
}

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

export function addRestore(transactions) {
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
    .option("--yes", YES);
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
        await rules.recordRestore(port, await by(), hashes);
      };
      const onlyTransactions = only === "transactions";
      const waitMs = kv.place.kind === "local" ? 0 : undefined;
      const options = { withKeys, onlyTransactions, overwrite, agree, waitMs };
      const done = await restore(kv, [file, ...increments], rules, options);
      const completeUpTo = await reconciled({ tools, kv, port, terminal });
      const words = restoredInWords(file, increments, done, withKeys);
      print({
        data: JSON.stringify({ file, increments, ...done, completeUpTo }),
        text: [words, ...ledgerInWords(completeUpTo)].join("\n"),
      });
    },
    { isRecorded: true },
  );
}

/** Up to when the ledger has all transactions after a restore: null without one, or if it fails. @returns {Promise<string | null>} */
async function reconciled({ tools, kv, port, terminal }) {
  if (!kv.ledger) return null;
  try {
    await operate(tools, port, "ledger", "check");
    return (await operate(tools, port, "ledger", "status")).completeUpTo;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    terminal.err(
      `All records are restored, and the ledger is not complete yet: ${error.message}\nRun \`${calledAs("ledger")} check\`.\n`,
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
