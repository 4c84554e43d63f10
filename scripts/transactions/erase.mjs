/** `npm run transactions -- erase`: one transaction, or all of an address. */
import { SHOWN_SECONDS } from "../lib/delays.mjs";
import { YES, confirm, onRecords } from "../lib/command.mjs";
import { Refusal, operator } from "../lib/operator.mjs";
import { UserError, placeInWords, table, visible } from "../lib/output.mjs";
import { HEADS, MOST, NONE, cells, completeInWords, email, mode } from "./words.mjs";

export function addErase(transactions) {
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
    .option("--yes", YES)
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
      if (id === undefined) {
        transactions.exitCode = await eraseAddress(at, remove.opts());
        return;
      }
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
}

const NOTHING_ERASED = "nothing was erased";
const AFTER = `amounts, offerings, times and charge stay. After about ${SHOWN_SECONDS} s the service shows it so everywhere. Backups still have it, and so has the shop.`;

/**
 * Erases what has an address, and prints a receipt, which does not have it. Of each unit all records are checked, as the
 * ledger may lack one.
 * @returns {Promise<number>} the exit code
 */
async function eraseAddress(at, { email, unit, mode, yes }) {
  const { tools, kv, port, print, terminal, by } = at;
  const { findTransactions } = await operator(tools);
  const found = await findTransactions(port, { wanted: { unit, mode }, by: { email } });
  const { transactions: rows, ...more } = found;
  if (unit === undefined && more.completeFrom)
    throw new UserError(`${INCOMPLETE} ${more.completeFrom}: ${EACH_UNIT}`);
  const units = unit === undefined ? [...new Set(rows.map(({ unit }) => unit))] : [unit];
  if (units.length > 0) {
    if (!yes) terminal.err(`${table(HEADS, rows.map(cells))}${completeInWords(more)}\n\n`);
    const question = `Check all records of ${units.join(", ")} of ${placeInWords(kv.place)}, and erase these ${rows.length} transactions and any others of the address? This cannot be undone.`;
    await confirm({ question, yes, otherwise: NOTHING_ERASED }, terminal);
  }
  const receipt = { by: await by(), transactions: [], checked: 0, damaged: 0 };
  for (const unit of units) await eraseIn(at, { wanted: { unit, mode }, email }, receipt);
  const left = receipt.transactions.filter(({ erased }) => !erased).length;
  const others = more.more ? `\n\n${THERE_ARE_OTHERS}` : "";
  print({ ...receipt, completeUpTo: more.completeUpTo }, () => {
    const damaged = receipt.damaged > 0 ? `\n\n${receipt.damaged} ${NOT_CHECKED}` : "";
    return receiptInWords(receipt, left) + others + completeInWords(more) + damaged;
  });
  return left > 0 || more.more ? 1 : 0;
}

const INCOMPLETE = "the ledger keeps only transactions from";
const EACH_UNIT =
  "it cannot say which units have older ones of this address. Erase it in each unit, with `--unit`";
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
