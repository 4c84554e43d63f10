/** `npm run transactions -- list|find`: transactions as rows. */
import { Option, onRecords, whole } from "../lib/command.mjs";
import { operator } from "../lib/operator.mjs";
import { table } from "../lib/output.mjs";
import {
  HEADS,
  MOST,
  NONE,
  cells,
  completeInWords,
  email,
  inMonth,
  mode,
  shownMore,
} from "./words.mjs";

const PAGE = 50;
const THERE_ARE_MORE = `These are the newest ${MOST}. Choose a unit or a mode to see others.`;

export function addList(transactions) {
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
}

export function addFind(transactions) {
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
}
