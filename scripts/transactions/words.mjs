/** Options of the commands on transactions, and what they print alike. */
import { Option, readMonth } from "../lib/command.mjs";

/** Most transactions that a command prints. */
export const MOST = 1_000;

/** Options, each made anew for a command. */
export const mode = () =>
  new Option("--mode <mode>", "only those of test keys, or of live keys").choices(["test", "live"]);
/** @param {{amount?: string, currencyCode?: string}} charge */
export const charged = ({ amount, currencyCode }) => `${amount} ${currencyCode}`;
export const counted = (count) => (count > 0 ? String(count) : "");
const damagedInWords = ({ count = 0, first = "" } = {}) =>
  count === 0 ? "" : `\n\n${count} records are damaged and left out, \`${first}\` first.`;

/** Up to when what the ledger says is complete; what Workers KV says has no `completeUpTo`. */
export const completeInWords = ({ completeUpTo, completeFrom, damaged, leftOut }) => {
  if (completeUpTo === undefined) return "";
  const until = completeUpTo
    ? `Complete up to ${completeUpTo}. Later orders usually appear within seconds.`
    : "Orders may be missing: the ledger has not been compared with all records yet.";
  const from = completeFrom
    ? `\nOrders before ${completeFrom} are not in the ledger: their months are shown only if they are paid.`
    : "";
  return `\n\n${until}${from}${damagedInWords(damaged)}${leftOutInWords(leftOut)}`;
};

const leftOutInWords = ({ count, first } = { count: 0, first: "" }) =>
  count === 0
    ? ""
    : `\nOrders of any month with too many quantities, which are in no sum here: ${count}, first ${first}.`;

export const HEADS = ["ID", "TIME", "UNIT", "MODE", "CHARGE", "UNPRICED", "ERASED"];
export const cells = ({ id, createdAt, unit, mode, unpriced, erased, ...charge }) => [
  id,
  createdAt,
  unit,
  mode,
  charged(charge),
  counted(unpriced),
  erased ?? "",
];

export const inMonth = () =>
  new Option("--month <month>", "such as 2026-11, in UTC").argParser(readMonth);

/** Of damaged records, and of those left out, programs get the number. */
export const shownMore = ({ damaged, leftOut, ...more }) => ({
  ...more,
  damaged: damaged?.count ?? 0,
  ...(leftOut && { leftOut: leftOut.count }),
});

export const NONE = "no such transaction";

export const email = () =>
  new Option("--email <address>", "the recipient's e-mail address, in full");
