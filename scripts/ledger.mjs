/** `npm run ledger -- status|check|rebuild|keep-from`: the ledger of the local or the deployed service's records. */
import { Argument, YES, command, confirm, onRecords, readMonth } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { placeInWords, table } from "./lib/output.mjs";

const MOST_FINDINGS = 1_000;

const ledger = command(
  "npm run ledger --",
  "The ledger: a database of all transactions, made of the records. docs/ledger.md says more.",
);

const status = ledger
  .command("status")
  .description("print how complete the ledger is, and what needs a person")
  .addHelpText(
    "after",
    "\nExits with 1 if there is a problem, as `GET /healthz` of the dashboard answers 503.",
  );
onRecords(status, async ({ tools, port, print }) => {
  const { ledgerStatus, ledgerFindings } = await operator(tools);
  const health = await ledgerStatus(port);
  const findings = await ledgerFindings(port, MOST_FINDINGS);
  print({ ...health, findings }, () => `${healthInWords(health)}${findingsInWords(findings)}`);
  ledger.exitCode = health.problem ? 1 : 0;
});

const check = ledger
  .command("check")
  .description("compare the ledger with all records now, and correct it");
onRecords(check, async ({ tools, port, print }) => {
  const { reconcile, ledgerFindings } = await operator(tools);
  const counts = await reconcile(port);
  const findings = await ledgerFindings(port, MOST_FINDINGS);
  print({ ...counts, findings }, () => `${countsInWords(counts)}${findingsInWords(findings)}`);
});

const rebuild = ledger
  .command("rebuild")
  .description("empty the ledger, and make it again from all records")
  .option("--yes", YES);
onRecords(rebuild, async ({ tools, kv, port, print, terminal }) => {
  const question = `Empty the ledger of ${placeInWords(kv.place)}, and make it again from the records? Until that ends, lists and sums lack transactions, and no month can be marked as paid.`;
  await confirm({ question, yes: rebuild.opts().yes, otherwise: "nothing was emptied" }, terminal);
  const { rebuildLedger, ledgerFindings, ledgerStatus } = await operator(tools);
  const { damaged, large, refused } = await rebuildLedger(port);
  const findings = await ledgerFindings(port, MOST_FINDINGS);
  const { lastPass, completeUpTo } = await ledgerStatus(port);
  print({ listed: lastPass.listed, damaged, large, refused, completeUpTo, findings }, () => {
    const made = `The ledger was made again from ${lastPass.listed} records. It is complete up to ${completeUpTo}.`;
    return `${made}${findingsInWords(findings)}`;
  });
});

const keep = ledger
  .command("keep-from")
  .description(
    "remove transactions of older months from the ledger, or bring some back; Workers KV keeps all",
  )
  .addArgument(
    new Argument("<month>", "the first month to keep, such as 2025-01, or `all` of them").argParser(
      (text) => (text === "all" ? null : readMonth(text)),
    ),
  )
  .option("--yes", YES);
onRecords(
  keep,
  async ({ tools, kv, port, print, terminal, by }, month) => {
    const question = month
      ? `Remove transactions from before ${month} from the ledger of ${placeInWords(kv.place)}? Workers KV keeps them. Their months can then no longer be summed, exported or marked as paid, and their orders are found only by ID, and by reference in a unit.`
      : `Keep all transactions in the ledger of ${placeInWords(kv.place)} again? Until that ends, lists and sums lack transactions, and no month can be marked as paid.`;
    await confirm({ question, yes: keep.opts().yes, otherwise: "nothing was changed" }, terminal);
    const { keepLedgerFrom, ledgerStatus } = await operator(tools);
    const counts = await keepLedgerFrom(port, await by(), month);
    const { keptFrom, completeUpTo } = await ledgerStatus(port);
    const which = month ? `only transactions from ${month} on` : "all transactions";
    const words = () => `The ledger keeps ${which}. It is complete up to ${completeUpTo}.`;
    print({ ...counts, keptFrom, completeUpTo }, words);
  },
  { changes: true },
);

// ---- In words ------------------------------------------------------------------------------------

const countsInWords = ({ missing, wrong, gone, damaged, large, refused }) =>
  table(
    ["FOUND", "TRANSACTIONS", "NOW"],
    [
      ["missing in the ledger", String(missing), "added"],
      ["different from their records", String(wrong), "corrected"],
      ["without a record", String(gone), "removed"],
      ["damaged records", String(damaged), "in no list and no sum"],
      ["with too many quantities", String(large), "in no sum of offerings"],
      ["refused by the database", String(refused), "in no list and no sum"],
    ],
  );

const passInWords = ({ began, ended, listed, mended }) =>
  `${began}${ended ? ` to ${ended}` : ""}: ${listed} records compared, ${mended} rows written or removed`;

function healthInWords({
  completeUpTo,
  keptFrom,
  received,
  lagMs,
  lastPass,
  currentPass,
  bytes,
  problem,
}) {
  const lag = lagMs === null ? "" : `, ${Math.round(lagMs / 1_000)} s after its order`;
  const rows = [
    ["Complete up to", completeUpTo ?? "not yet"],
    ...(keptFrom ? [["Orders kept", `from ${keptFrom} on`]] : []),
    ["Last message", received ? `${received}${lag}` : "not yet"],
    ["Last reconciliation", lastPass ? passInWords(lastPass) : "not yet"],
    ...(currentPass ? [["In progress", passInWords(currentPass)]] : []),
    ...(bytes === null ? [] : [["Size", `${Math.ceil(bytes / 1_000_000)} MB`]]),
    ["Problem", problem ?? "none"],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join("\n");
}

const findingsInWords = (findings) => {
  if (findings.length === 0) return "";
  const rows = findings.map(({ kind, found, name, detail }) => [
    kind,
    new Date(found).toISOString(),
    name,
    detail,
  ]);
  return `\n\n${table(["FINDING", "FOUND", "RECORD", "DETAIL"], rows)}`;
};

export default ledger;
