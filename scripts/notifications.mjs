/** `npm run notifications -- show|list|resend|preview`: the e-mails to recipients, for support. */
import {
  InvalidArgumentError,
  Option,
  YES,
  command,
  confirm,
  onRecords,
  whole,
} from "./lib/command.mjs";
import { FAILED_MAIL_DAYS, MAILED_SECONDS } from "./lib/delays.mjs";
import { mailInWords, riskInWords } from "./lib/mail-state.mjs";
import { newFile } from "./lib/new-file.mjs";
import { operator } from "./lib/operator.mjs";
import { placeInWords, table } from "./lib/output.mjs";
import { openQueue } from "./lib/queue.mjs";

const notifications = command(
  "npm run notifications --",
  "E-mails to the recipients of pledges: what became of them, and how one is sent again.",
);
const ABOUT = "ID of the transaction";

// ---- Show ----------------------------------------------------------------------------------------

onRecords(
  notifications
    .command("show")
    .description("print what became of a transaction's e-mail")
    .argument("<id>", ABOUT),
  async ({ tools, port, print }, id) => {
    const { showNotification } = await operator(tools);
    const shown = await showNotification(port, id);
    print(shown, () => table(["", ""], linesOf(shown)).trimStart());
  },
);

const linesOf = ({ id, createdAt, mode, unit, recipient, mail }) => [
  ["ID", id],
  ["Created", createdAt],
  ["Mode", mode],
  ["Unit", unit],
  ["Recipient", recipient],
  ["E-mail", mailInWords(mail)],
];

// ---- List ----------------------------------------------------------------------------------------

function readDay(text) {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError("It must be a day, such as 2026-11-21.");
}

const list = notifications
  .command("list")
  .description(
    `print the e-mails that failed within ${FAILED_MAIL_DAYS} days, the newest day first`,
  )
  .requiredOption("--failed", "those that failed: there is no list of the others")
  .addOption(new Option("--day <day>", "only those of this day, in UTC").argParser(readDay))
  .addOption(
    new Option("--limit <count>", "at most so many").argParser(whole(1, 1_000)).default(20),
  );
onRecords(list, async ({ tools, port, print }) => {
  const { day, limit } = list.opts();
  const { failedNotifications } = await operator(tools);
  const { failed, more } = await failedNotifications(port, { day, limit });
  print({ failed, more }, () => {
    if (failed.length === 0) return "no e-mail is listed as failed";
    const end = more ? "\n\nThere are more: raise `--limit`, or give a `--day`." : "";
    return table(["DAY", "ID", "UNIT", "MODE", "NOW"], failed.map(cells)) + end;
  });
});

const cells = ({ day, id, now, problem }) => [
  day,
  id,
  now?.unit,
  now?.mode,
  problem ?? mailInWords(now.mail),
];

// ---- Send again ----------------------------------------------------------------------------------

const OTHERWISE = "nothing was sent";
const again = notifications
  .command("resend")
  .description("send a transaction's e-mail once more")
  .argument("<id>", ABOUT)
  .addOption(
    new Option("--origin <url>", "of the local service; else that of `npm start`").conflicts(
      "remote",
    ),
  )
  .option("--yes", YES);
onRecords(
  again,
  async ({ tools, kv, port, print, terminal, by }, id) => {
    const { origin = `http://127.0.0.1:${terminal.env.PORT || 8787}`, yes } = again.opts();
    if (!URL.canParse(origin)) again.error(`\`${origin}\` is no address: give one by \`--origin\``);
    const { showNotification, nextMessage, resendNotification } = await operator(tools);
    const { mode, recipient, mail } = await showNotification(port, id);
    const { round } = await nextMessage(port, id);
    const queue = await openQueue(tools, kv.place, origin);
    const to = mode === "test" ? "MAIL_TEST_TO" : recipient;
    const question = `Send the e-mail of ${id} of ${placeInWords(kv.place)} to ${to}, as round ${round}? So far: ${mailInWords(mail)}. ${riskInWords(mail)}.`;
    await confirm({ question, yes, otherwise: OTHERWISE }, terminal);
    const message = await resendNotification(port, await by(), id);
    await queue.put(message);
    print({ ...message, before: mail }, () => `Round ${message.round} is in the queue. ${AFTER}`);
  },
  { changes: true },
);
const AFTER = `After about ${MAILED_SECONDS} s \`npm run notifications -- show\` says what became of it.`;

// ---- Preview -------------------------------------------------------------------------------------

const look = notifications
  .command("preview")
  .description(
    "print a transaction's e-mail as it would be sent now, with the recipient's name and the address of the page, which opens it to whoever has it",
  )
  .argument("<id>", ABOUT)
  .option("--html <file>", "its HTML, too, into a new file");
onRecords(look, async ({ tools, port, print }, id) => {
  const { html: file } = look.opts();
  const { previewNotification } = await operator(tools);
  const { html, ...mail } = await previewNotification(port, id);
  if (file !== undefined) await newFile(file, (output) => output.writeFile(html));
  const { sender, to, replyTo, subject, text } = mail;
  const heads = [
    ["From", sender],
    ["To", to],
    ["Reply-To", replyTo],
    ["Subject", subject],
  ].filter(([, value]) => value);
  print({ ...mail, file: file ?? null }, () => {
    const end = file === undefined ? "" : `\n${file} has the HTML.`;
    return `${table(["", ""], heads).trimStart()}\n\n${text}${end}`;
  });
});

export default notifications;
