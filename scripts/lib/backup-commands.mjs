/** `npm run transactions -- backup|restore`: backs up and restores all records of a namespace. */
import { backup } from "./backup.mjs";
import { YES, Option, confirm, onRecords } from "./command.mjs";
import { increment } from "./increment.mjs";
import { operate } from "./operations.mjs";
import { operator } from "./operator.mjs";
import { UserError, placeInWords, table, visible } from "./output.mjs";
import { calledAs } from "./places.mjs";
import { restore } from "./restore.mjs";

const SECRET =
  "The file has personal data and the hashes of API keys: keep it as secret as the namespace.";

export function addBackup(transactions) {
  const saved = transactions
    .command("backup")
    .description("write all records of the namespace into a file")
    .argument("<file>", "a file that does not exist yet")
    .option(
      "--since <file>",
      "back up only what was created or changed since the last backup, whose file this is: a full backup, or one made with `--since`; needs the ledger",
    );
  onRecords(
    saved,
    async (at, file) => {
      const { since } = saved.opts();
      const rules = await operator(at.tools);
      const done =
        since === undefined
          ? await backup(at.kv, file, rules)
          : await increment(at.kv, file, since, rules);
      const recorded = await recordBackup(at, since !== undefined, done);
      at.print({
        data: JSON.stringify({ file, ...done, recorded }),
        text: savedInWords(file, done),
      });
    },
    { isRecorded: true },
  );
}

/** @param {string} file @param {{count: number, rows: number, lacks: string | null, sha256: string, since?: string, completeUpTo?: string}} done */
function savedInWords(file, { count, rows, lacks, sha256, since, completeUpTo }) {
  const span =
    since && `\nIt continues the last backup, with the changes from ${since} to ${completeUpTo}.`;
  const lacking =
    lacks && `\nIt has no people of shops, credits, fulfilments and updates: ${lacks}.`;
  return `${file}: ${count} records, ${rows} rows of the ledger, SHA-256 ${sha256}${span ?? ""}${lacking ?? ""}\n\n${SECRET}`;
}

/**
 * Records in the namespace that a backup was made. If this fails, prints a message and does not throw, because
 * the backup itself is complete.
 * @returns {Promise<boolean>} whether the backup was recorded
 */
async function recordBackup({ tools, port, terminal, by }, isIncrement, { count }) {
  try {
    await (await operator(tools)).recordBackup(port, await by(), isIncrement, count);
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    terminal.err(
      `The backup is complete, but could not be recorded as the last backup: ${error.message}\n`,
    );
    return false;
  }
}

const OTHER_SECRET =
  "The namespace now has the secret of the backup. API keys that are not in the backup keep the old secret. A repeated create request is recognised as a retry only if both attempts use API keys with the same secret.";

export function addRestore(transactions) {
  const back = transactions
    .command("restore")
    .description("write the records of a backup into the namespace, without API keys")
    .argument("<file>", "a full backup, written by `backup`")
    .argument(
      "[increments...]",
      "all incremental backups after the full one, written by `backup --since`, in order",
    );
  back
    .addOption(
      new Option(
        "--only <kind>",
        "restore only transactions: the namespace keeps its own keys, prices and secret; or only the rows of the ledger, after its database was lost",
      ).choices(["transactions", "ledger"]),
    )
    .option(
      "--with-keys",
      "also restore people of shops, units of teams, connections to shop systems and API keys. The keys are shown first; a key that was revoked since the backup works again. With `--only ledger`: people alone",
    )
    .option("--overwrite", "replace records of the namespace that differ from the backup")
    .option("--yes", YES);
  onRecords(
    back,
    async ({ tools, kv, port, print, terminal, by }, file, increments) => {
      const { only, withKeys = false, overwrite, yes } = back.opts();
      const rules = await operator(tools);
      const agree = async (keys, hashes) => {
        if (withKeys && keys.count > 0) {
          terminal.err(`${keysInWords(keys)}\n\n`);
          const question = `Restore these API keys into ${placeInWords(kv.place)}?`;
          await confirm({ question, yes, otherwise: "nothing was restored" }, terminal);
        }
        await rules.recordRestore(port, await by(), hashes);
      };
      const [onlyTransactions, onlyLedger] = [only === "transactions", only === "ledger"];
      const waitMs = kv.place.kind === "local" ? 0 : undefined;
      const options = { withKeys, onlyTransactions, onlyLedger, overwrite, agree, waitMs };
      const done = await restore(kv, [file, ...increments], rules, options);
      const completeUpTo = await reconciled({ tools, kv, port, terminal });
      const words = restoredInWords(file, increments, done, withKeys);
      print({
        data: JSON.stringify({ file, increments, ...done, completeUpTo }),
        text: [words, ...ledgerInWords(completeUpTo)].join("\n"),
      });
    },
    {
      isRecorded: true,
      before: () => {
        const { only, withKeys } = back.opts();
        if (withKeys && only === "transactions")
          back.error("`--with-keys` cannot be used with `--only transactions`");
      },
    },
  );
}

/**
 * Adds the restored transactions to the ledger.
 * @returns {Promise<string | null>} the time up to which the ledger is complete; null if there is no ledger,
 *   or if this fails
 */
async function reconciled({ tools, kv, port, terminal }) {
  if (!kv.ledger) return null;
  try {
    await operate(tools, port, "ledger", "check");
    return (await operate(tools, port, "ledger", "status")).completeUpTo;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    terminal.err(
      `All records are restored, but the ledger is not complete yet: ${error.message}\nRun \`${calledAs("ledger")} check\`.\n`,
    );
    return null;
  }
}

const ledgerInWords = (completeUpTo) =>
  completeUpTo ? [`The ledger is complete up to ${completeUpTo}.`] : [];

function restoredInWords(file, increments, done, withKeys) {
  const { written, same, expired, erased, left, ledger, keys, secretReplaced, from } = done;
  const counts = [
    `${written} records of ${[file, ...increments].join(", ")} were written and read back`,
    `${same} were already there`,
    `${expired} have expired since the backup`,
    `${erased} stay erased`,
    `${left} were left out`,
  ];
  const leftKeys = `\nWith \`--with-keys\`, these API keys would be restored too, even if they were revoked:\n\n${keysInWords(keys)}`;
  return [
    `${counts.join(", ")}.`,
    `The ${increments.length > 0 ? "last " : ""}backup was started at ${visible(`${from.startedAt}, of ${placeInWords(from.place)}`)}.`,
    ...(ledger ? rowsInWords(ledger) : [LEFT_OUT]),
    ...(secretReplaced ? [OTHER_SECRET] : []),
    ...(withKeys || keys.count === 0 ? [] : [leftKeys]),
  ].join("\n");
}

const LEFT_OUT = "People of shops, credits, fulfilments and updates were left out.";
const WITHOUT =
  "The backup has no people of shops, credits, fulfilments and updates: it was made without the ledger, or after a loss.";
const WITHOUT_LEDGER =
  "People of shops, credits, fulfilments and updates were not restored, because no database is bound as `LEDGER_DB`. Bind one, and run the same command again.";

const TABLES = { audit: "entries of the audit log" };

function rowsInWords({ rows, lacks, isLost }) {
  if (lacks === "ledger") return [WITHOUT_LEDGER];
  if (!rows) {
    const lost = `The database has lost them, so nothing that depends on them is shown or changed. To go on without them, run \`${calledAs("ledger")} accept-loss\`.`;
    return isLost ? [`${WITHOUT} ${lost}`] : [WITHOUT];
  }
  const counts = Object.entries(rows).map(
    ([table, { written, known }]) =>
      `${written} ${TABLES[table] ?? table} were written, ${known} were already there`,
  );
  const refused = Object.entries(rows).flatMap(([table, own]) =>
    own.refused.map((id) => `${table} ${id}`),
  );
  const why = `\nThese could not be written, because the ledger has others in their place:\n${refused.join("\n")}`;
  return [`Of the ledger's rows, ${counts.join("; ")}.${refused.length > 0 ? why : ""}`];
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
