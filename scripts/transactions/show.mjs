/** `npm run transactions -- show`: one transaction. */
import { onRecords } from "../lib/command.mjs";
import { mailInWords } from "../lib/mail-state.mjs";
import { operator } from "../lib/operator.mjs";
import { table } from "../lib/output.mjs";
import { charged } from "./words.mjs";

export function addShow(transactions) {
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
}

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
