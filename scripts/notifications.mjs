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
const STEP = 100; // e-mails
const again = notifications
  .command("resend")
  .description("send a transaction's e-mail once more, or those that failed on a day")
  .argument("[id]", ABOUT)
  .option("--failed", "with --day: those that failed on it, each once")
  .addOption(new Option("--day <day>", "with --failed: the day, in UTC").argParser(readDay))
  .option("--again", "also if it is queued already: begin the round after that")
  .addOption(
    new Option("--origin <url>", "of the local service; else that of `npm start`").conflicts(
      "remote",
    ),
  )
  .option("--yes", YES);
onRecords(
  again,
  async (at, id) => {
    const { failed, day, again: isAgain } = again.opts();
    const isOfDay = failed && day !== undefined;
    const isOne = id !== undefined && !failed && day === undefined;
    if (isOfDay && isAgain)
      again.error("`--again` is for the ID of one transaction, not for `--failed --day`");
    if (!isOne && (!isOfDay || id !== undefined))
      again.error("give the ID of a transaction, or `--failed` with a `--day`");
    const { origin = `http://127.0.0.1:${at.terminal.env.PORT || 8787}` } = again.opts();
    if (!URL.canParse(origin)) again.error(`\`${origin}\` is no address: give one by \`--origin\``);
    await (isOfDay ? resendDay(at, origin, day) : resendOne(at, origin, id));
  },
  { changes: true },
);

/**
 * The queue of a place as the operator's functions take it. What it throws is thrown once they have ended.
 * @returns {Promise<{put: (message: import("./lib/queue.mjs").Message) => Promise<boolean>, check: () => void}>}
 */
async function queueOf({ tools, kv }, origin) {
  const queue = await openQueue(tools, kv.place, origin);
  let problem;
  const put = async (message) => {
    try {
      await queue.put(message);
      return true;
    } catch (error) {
      problem = error;
      return false;
    }
  };
  const check = () => {
    if (problem !== undefined) throw problem;
  };
  return { put, check };
}

async function resendOne(at, origin, id) {
  const { tools, kv, port, print, terminal, by } = at;
  const { yes, again: isAgain } = again.opts();
  const { showNotification, nextMessage, queueMessage } = await operator(tools);
  const { mode, recipient, mail } = await showNotification(port, id);
  const message = await nextMessage(port, id);
  const { round } = message;
  const queue = await queueOf(at, origin);
  if (mail.state === "waiting" && mail.round !== undefined && !isAgain) {
    print({ id, queued: false, before: mail }, () => `${BEFORE}: ${mailInWords(mail)}. ${ONCE}`);
    return;
  }
  const to = mode === "test" ? "MAIL_TEST_TO" : recipient;
  const question = `Send the e-mail of ${id} of ${placeInWords(kv.place)} to ${to}, as round ${round}? So far: ${mailInWords(mail)}. ${riskInWords(mail)}.`;
  await confirm({ question, yes, otherwise: OTHERWISE }, terminal);
  await queueMessage(port, await by(), message, queue.put);
  queue.check();
  print({ ...message, before: mail }, () => `Round ${round} is in the queue. ${AFTER}`);
}

const BEFORE = "It is already queued, and was not queued again";
const ONCE = "`--again` begins one more round.";
const AFTER = `After about ${MAILED_SECONDS} s \`npm run notifications -- show\` says what became of it.`;

async function resendDay(at, origin, day) {
  const { tools, kv, port, print, terminal, by } = at;
  const { yes } = again.opts();
  const queue = await queueOf(at, origin);
  const question = `Send the e-mails of ${placeInWords(kv.place)} once more that failed on ${day}, and still count as failed?`;
  await confirm({ question, yes, otherwise: OTHERWISE }, terminal);
  const { resendDay: resend } = await operator(tools);
  const sum = { day, queued: 0, before: 0, ended: 0, refused: /** @type {string[][]} */ ([]) };
  let from = null;
  do {
    const step = await resend(port, await by(), { day, from, count: STEP }, queue.put);
    for (const count of ["queued", "before", "ended"]) sum[count] += step[count];
    sum.refused.push(...step.refused);
    if (step.untaken) terminal.err(`${countsOf(sum)}\n`);
    queue.check();
    from = step.next;
  } while (from !== null);
  print(sum, () => [countsOf(sum), ...sum.refused.map(([id, why]) => `${id}: ${why}`)].join("\n"));
}

const countsOf = ({ queued, before, ended, refused }) =>
  `queued ${queued}, already queued ${before}, sent, skipped or failed again since ${ended}, cannot be sent ${refused.length}`;

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
