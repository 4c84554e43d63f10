/** Tests that each delay in a document is the value of a constant, or is listed here as a fact about another service. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { limitTable, stored } from "../proofs/scale/report.mjs";
import {
  APPLIED_SECONDS as APPLIED,
  FAILED_MAIL_DAYS as FAILED,
  NOTIFICATION_DAYS as KEPT,
  REFUSED_SECONDS as REFUSED,
  SHOWN_SECONDS as SHOWN,
  WAITING_HOURS as WAITING,
} from "../support/delays.mjs";

const ROOT = join(import.meta.dirname, "../..");
const read = (file) => readFileSync(join(ROOT, file), "utf8");

/**
 * Returns a constant from a source file. It may be a product of numbers and other constants.
 * @param {string} file @param {string} name @returns {number}
 */
function constant(file, name) {
  const found = read(file).match(new RegExp(`\\b${name}(?:: \\w+)?(?: =|:) ([\\w *]+)[;,]`));
  const value = found?.[1];
  assert.ok(value, `${file} has no ${name}`);
  return value.split("*").reduce((product, text) => product * factor(file, text.trim()), 1);
}

/** Returns the value of one factor of a product: a number, or another constant in the file. */
const factor = (file, text) =>
  /^\d/.test(text) ? Number(text.replaceAll("_", "")) : constant(file, text);

/** Returns a constant in seconds. The source file states it in milliseconds. */
const seconds = (...of) => constant(...of) / 1_000;
const minutes = (...of) => constant(...of) / 60_000;

/** Returns a constant that is a list of numbers. @returns {number[]} */
function numbers(file, name) {
  const [, list] = read(file).match(new RegExp(`const ${name}.* = \\[(.*)\\];`)) ?? [];
  assert.ok(list, `${file} has no ${name}`);
  return list.split(",").map((text) => factor(file, text.trim()));
}

const CACHED = constant("src/pledges/store/key.rs", "LEAST_CACHE_SECONDS");
const BACKUPS = "src/office/system/rule/backup_index.rs";
const STATE = "src/office/system/rows/backup_state.rs";
const FAILING = minutes(STATE, "FAILING_MS");
const LATE = constant(STATE, "LATE_DAYS");
const COUNTED = constant("src/pledges/store/notification_keys.rs", "MAILED_DAYS");
const QUEUED = constant("src/pledges/store/notification_keys.rs", "QUEUED_DAYS");
const CLAIM = seconds("src/buyer/delivery/claim.rs", "CLAIM_MS");
const READ = seconds("src/pledges/store/key.rs", "READ_MS");
const PROFILE = seconds("src/pledges/store/account_keys.rs", "READ_MS");
const UPDATES = seconds("src/pledges/store/updates_key.rs", "READ_MS");
const WRITE = seconds("src/doors/cloudflare/kv/mod.rs", "WRITE_MS");
const USED = seconds("src/pledges/service/cache.rs", "LIFETIME_MS");
const EXEMPT = minutes("src/pledges/service/cache.rs", "EXEMPT_MS");
const RECENT = minutes("src/pledges/service/recent.rs", "LIFETIME_MS");
const BODY = seconds("src/doors/cloudflare/request.rs", "BODY_MS");
const PIECE = seconds("src/doors/cloudflare/request.rs", "PIECE_MS");
const QUEUE = seconds("src/doors/cloudflare/queue.rs", "PUT_MS");
const MAIL = seconds("src/doors/mail/mod.rs", "SEND_MS");
const ADAPTER = seconds("src/doors/delivery_worker/messaging.rs", "SEND_MS");
const PAUSE = constant("src/doors/mail/attempts.rs", "MAX_PAUSE_SECONDS");
/**
 * The longest time in seconds until the result of an e-mail is known. It consists of the period in which
 * pauses may begin, the last pause, and two timeouts for sending.
 */
const MAILED = seconds("src/doors/mail/attempts.rs", "PATIENCE_MS") + PAUSE + 2 * MAIL;
const DELAY = constant("src/buyer/delivery/schedule.rs", "DELAY_SECONDS");
const ABSENT = numbers("src/buyer/delivery/schedule.rs", "ABSENT_AFTER").map((wait) => wait / 60);
const AGAIN = numbers("src/buyer/delivery/schedule.rs", "FAILED_AFTER");
const TRIED = Math.ceil(AGAIN.reduce((sum, wait) => sum + wait) / 3_600);
const MOST = constant("src/buyer/delivery/schedule.rs", "MAX_WAIT") / 3_600;
const FORM = minutes("src/office/shared/rule/operation_id.rs", "VALID_MS");
const SEARCH = constant("src/office/orders/page/find/sealed.rs", "SEARCH_HOURS");
const UNDER_WAY = seconds("src/office/shared/rows/operations.rs", "UNDER_WAY_MS");
const DONE = constant("src/office/shared/rows/operations.rs", "KEPT_DAYS");
const ERASABLE = constant("src/office/orders/rule/erase/age.rs", "ERASABLE_MINUTES");
const ENDED = constant("src/pledges/settlement.rs", "ENDED_AFTER_HOURS");
const WINDOW = seconds("src/pledges/orders/signature.rs", "WINDOW_MS");
const CRON = constant("src/office/system/rows/health.rs", "CRON_MINUTES");
const LIFE = constant("scripts/lib/restore.mjs", "LEAST_LIFE");
const [SHORT, LONG] = [
  AGAIN.slice(0, 3).map((wait) => wait / 60),
  AGAIN.slice(3).map((wait) => wait / 3_600),
];

/** The delays that each document states, as texts built from constants. @type {Record<string, string[]>} */
const STATED = {
  "docs/keys-and-prices.md": [
    `up to ${SHOWN} s later in a location where this key was tried`,
    `refused everywhere after ${REFUSED} s: Cloudflare's locations cache a key for up to ${CACHED} s, and a running Worker for up to ${USED} s more`,
    `up to ${SHOWN} s later in a location where the team's key named the unit`,
    `refused everywhere after ${REFUSED} s |`,
    `after about ${APPLIED} s: up to ${SHOWN} s in KV's caches, and up to ${USED} s in a running Worker`,
    `created within the last ${SHOWN} s`,
    `that cannot be read** within ${PROFILE} s`,
    `service answers 404 within about ${APPLIED} s`,
  ],
  "docs/payments.md": [
    `ended at least ${ENDED} hours ago`,
    `after about ${APPLIED} s`,
    `timeline shows it within about ${SHOWN} s`,
  ],
  "docs/data.md": [
    `ledger has | ${constant(BACKUPS, "FULL_DAYS")} days | ${constant(BACKUPS, "KEPT_DAYS")} days`,
    `ledger has | day | ${constant(BACKUPS, "KEPT_DAYS")} days`,
    `no progress for ${minutes(BACKUPS, "STALLED_MS") / 60} hours`,
    `failed for ${FAILING} minutes, or one is overdue by ${LATE} days`,
    `[${constant(BACKUPS, "KEPT_DAYS")} days](#back-up-on-a-schedule)`,
    `transactions of the last ${SHOWN} s`,
    `connection is ended, at most ${constant("src/pledges/store/order_keys.rs", "RECEIVED_DAYS")} days`,
    `younger than ${ERASABLE} minutes`,
    `received less than ${ERASABLE} minutes ago`,
    `run it again in ${ERASABLE} minutes`,
    `locations | about ${SHOWN} s`,
    `sent at that moment | ${KEPT} and ${COUNTED} days`,
    `kept for ${COUNTED} or ${QUEUED} days`,
    `that expire within ${LIFE} s`,
    `hash of the address | ${KEPT} days`,
    `failed on that day | ${FAILED} days`,
    `next attempt | ${QUEUED} days`,
    `for the daily limit | ${COUNTED} days`,
    `message about a transaction | ${constant("src/pledges/store/transaction_keys.rs", "LEDGER_UNSENT_DAYS")} days`,
    `copies it into the ledger | ${constant("src/pledges/store/namespace_keys.rs", "AUDIT_DAYS")} days`,
  ],
  "docs/emails.md": [
    `# of ${FAILED} days`,
    `within the last ${WAITING} hours`,
    `older than ${KEPT} days`,
    `no delivery result for ${WAITING} hours`,
    `failures of the last ${FAILED} days`,
    `waits at most ${QUEUE} s for the queue`,
    `each message after ${DELAY} s`,
    `Retries after ${ABSENT.join(" and ")} minutes`,
    `does not answer within ${MAIL} s`,
    `Retries after ${SHORT.join(", ").replace(/, (\d+)$/, " and $1")} minutes, ${LONG.join(" and ")} hours`,
    `respected, up to ${MOST} hours`,
    `within these ${TRIED} hours`,
    `Retries after ${CACHED} to ${CLAIM + CACHED} s`,
    `failed ${WAITING} hours after that attempt was due`,
    `the count up to ${SHOWN} s late`,
    `sees a cancellation within about ${SHOWN} s`,
    `show each change about ${SHOWN} s late`,
    `delivery waits ${seconds("src/buyer/delivery/claim.rs", "SETTLE_MS")} s for a possible second one`,
    `does not confirm it within ${MAIL} s`,
  ],
  "docs/messaging.md": [
    `Answer within ${ADAPTER} s`,
    `no answer within ${ADAPTER} s`,
    `within the ${TRIED} hours`,
    `first attempt is ${DELAY} s after`,
    `follow after ${SHORT.join(", ").replace(/, (\d+)$/, " and $1")} minutes, ${LONG.join(" and ")} hours`,
    `respected, up to ${MOST} hours`,
    `one of up to ${PAUSE} s is waited out`,
    `waits for the queue for ${QUEUE} s at most`,
  ],
  "docs/decisions/emails.md": [
    `sends nothing for ${CLAIM} s, the first wait of the schedule`,
    `waits ${seconds("src/buyer/delivery/claim.rs", "SETTLE_MS")} s before it reads its claim back`,
    `keeps its place for ${MAILED} s at most`,
    `shows a write elsewhere up to ${SHOWN} s late`,
    `does not confirm it within ${MAIL} s`,
    `its own record ${SHOWN} s later`,
  ],
  "docs/logs-and-alarms.md": [`within the last ${EXEMPT} minutes`],
  "docs/errors/logs.md": [`"no answer in ${READ * 1_000} ms"`, `retried every ${CRON} minutes`],
  "docs/errors/api.md": [`unknown for up to ${SHOWN} s`, `take ${SHOWN} s or more to show`],
  "docs/errors/package.md": [`no more than ${WINDOW} s from now`],
  "docs/errors/refusals.md": [],
  "docs/errors/validation.md": [],
  "docs/limits-and-costs.md": [
    `${BODY} s for all of it, and ${PIECE} s for each 16 KiB`,
    `Read of Workers KV | ${READ} s`,
    `Write to Workers KV | ${WRITE} s`,
    `updates are cached for ${USED} s`,
    `once in ${USED} s`,
    ...limitTable(stored())
      .split("\n")
      .map((row) => row.replace(/ +/g, " ").replace(/^\| | \|$/g, "")),
  ],
  "docs/security.md": [
    `after [${REFUSED} s]`,
    `changes a team expires after ${FORM} minutes`,
    `The form expires after ${FORM} minutes`,
    `person's address and expires after ${SEARCH} hours`,
    `${BODY} s for a body, ${PIECE} s for each 16 KiB`,
    `${READ} s for a read, ${WRITE} s for a write`,
    `Reads have a deadline of ${UPDATES} s`,
    `redirects | ${MAIL} s, 4 KiB`,
    `accepted within ${EXEMPT} minutes`,
  ],
  "docs/dashboard.md": [
    `to whom in the last ${constant("src/office/notices/rule/send.rs", "KEPT_DAYS")} days`,
    `a problem for at least ${constant("src/office/notices/rule/found.rs", "LASTING_MINUTES")} minutes`,
    `e-mails every ${CRON} minutes`,
    `during the ${constant("src/office/notices/rule/found.rs", "MONTH_DAYS")} days after`,
    `changes of the last ${SHOWN} s`,
    `works for up to ${REFUSED} s`,
    `works for ${SEARCH} hours`,
    `only you can open it, for ${SEARCH} hours`,
    `a notification failed in the last ${FAILED} days`,
    `dates that are at most ${constant("src/office/orders/rule/list.rs", "MAX_DAYS")} days apart`,
    `failed in the last ${constant("src/office/mails/rule/recent.rs", "RECENT_DAYS")} days`,
    `in the last ${constant("src/office/system/rule/attention.rs", "UNUSUAL_DAYS")} days a live charge`,
    `more than ${constant("src/office/system/page/last_backups.rs", "MAX_DAYS")} days old`,
  ],
  "docs/fulfilment.md": [
    `all buyers, after about ${APPLIED} s`,
    `show the change after about ${APPLIED} s`,
    `them after about ${APPLIED} s as well`,
    `Cloudflare's locations cache the record for ${SHOWN} s, and a running Worker for ${USED} s`,
  ],
  "docs/ledger.md": [
    `up to ${minutes("src/office/system/rows/state.rs", "SHOWN_AFTER_MS")} minutes before the pass began`,
    `ended ${ENDED} hours ago`,
    `has not shown for ${minutes("src/office/system/rows/health.rs", "PUBLISHED_MS")} minutes`,
    `within ${minutes("src/pledges/time.rs", "SKEW_MS")} minutes of the real time`,
    `each operation for ${DONE} days`,
    `try again in ${UNDER_WAY} s`,
    `expires ${FORM} minutes after its page`,
  ],
  "docs/reliability.md": [
    `first create within ${RECENT} minutes`,
    `elsewhere for ${SHOWN} s or more`,
    `caches of ${CACHED} to ${SHOWN} s`,
    `no more than ${SHOWN} s`,
  ],
  "docs/deploying.md": [],
  "docs/decisions/records.md": [
    `have read within ${seconds("src/office/shared/rule/published.rs", "FRESH_MS")} s`,
    `confirms a copy, ${minutes("src/office/system/rule/publish.rs", "FINAL_AFTER_MS")} minutes after`,
  ],
  "docs/recover.md": [
    `fail for ${FAILING} minutes, or are overdue by ${LATE} days`,
    `at most ${2 * CRON} minutes. KV names`,
    `the changes of the last ${CRON} minutes before it`,
  ],
  "docs/service.md": [],
  "docs/settings.md": [],
  "docs/npm.md": [
    `Without a total within ${seconds("pkg-templates/badge.ts", "TOTAL_MS")} s`,
    `at most ${WINDOW} s from now`,
    `first wait is ${seconds("src/pledges/retry.rs", "FIRST_WAIT_MS")} s at most, and each further wait doubles, up to ${seconds("src/pledges/retry.rs", "LONGEST_WAIT_MS")} s`,
    `asks for up to ${seconds("src/pledges/retry.rs", "LONGEST_RETRY_AFTER_MS")} s`,
  ],
  "docs/testing.md": [
    `Rejects after ${seconds("pkg-templates/testing/options.ts", "deadlineMs")} s of real time`,
  ],
  "docs/forms.md": [
    `for ${seconds("pkg-templates/form/sending.ts", "LEAVING_MS")} s at most`,
    `waits for them, ${seconds("pkg-templates/form/rules.ts", "PATIENCE_MS")} s at most`,
  ],
  "docs/getting-started.md": [],
  "docs/forms-server.md": [],
  "docs/react-hook-form.md": [],
  "ARCHITECTURE.md": [
    `show a write ${SHOWN} s late or later`,
    `1 MiB within ${BODY} s`,
    `deadline of ${READ} s, each write one of ${WRITE} s`,
    `does not take within ${QUEUE} s`,
  ],
  "docs/openapi.yaml": [`from ${ENDED} hours after its end on`],
  "README.md": [],
};

/** Texts with delays that are not set in this code: facts about other services, and measured times. */
const NOT_OURS = [
  "at least 60 s (KV's shortest expiry)",
  "reads in 30 ms and writes and lists in 150 ms, and a mail service that takes 400 ms: an e-mail takes 1 s",
  "4 days by default, 24 hours on the free plan",
  "raise the retention to 14 days",
  "assume that one e-mail takes 1 s",
  "33,000 e-mails in two hours",
  "up to 64 KiB, within 10 seconds.",
  "up to 64 KiB that arrives within 10 seconds",
  '"up to 60 seconds or more"',
  "calls in five minutes",
  "46 minutes at least",
  "10 ms for each request",
  "kept for 3 days",
  "kept for 7 days",
  "below 1 ms each",
  "which Resend knows for 24 hours",
  "throws an error if it is forged or older than 5 minutes",
  "Remember each `webhook-id` for at least 15 days",
  "drops such duplicates for 24 hours",
  "(15 minutes, at most 386 MB",
  "inputs in 90 minutes",
  "an hour takes milliseconds",
  "within five minutes, and needs about five minutes for each 150,000",
  "takes five minutes for each 150,000",
  "is null for ten minutes",
  "for two hours (two days where",
  "Time Travel](https://developers.cloudflare.com/d1/reference/time-travel/) after 30 days",
  "So 30 days after an erasure",
  "Time Travel | [at most 30 days]",
  "any minute of the last 30 days, on the free plan 7 days",
  "set back beyond it (30 days)",
];

/** Files that state measured times of the set-up. */
const SETS_UP = ["scripts/setup/tools.mjs", "scripts/setup/rust.mjs", "scripts/lib/bootstrap.mjs"];

const DELAYS = [
  // `min(` is a function of SQL.
  /\b\d[\d.,]*[ -](?:s|ms|min(?!\()|seconds?|minutes?|hours?|days?)\b/,
  /\b(?:within|after|about|for|than|to|in) (?:an?|one|two|three|five|ten|half an?|that) (?:minutes?|hours?)\b/,
  /\b(?:a day (?:after|later)|the last (?:second|minute|hour|day)|(?:within|half) a second)\b/,
];

for (const [page, stated] of Object.entries(STATED))
  test(`${page}: delays have the values of their constants`, () => {
    let text = read(page).replaceAll(/\s+/g, " ");
    assert.deepEqual(
      stated.filter((words) => !text.includes(words)),
      [],
    );
    for (const words of [...stated, ...NOT_OURS]) text = text.replaceAll(words, "…");
    const others = DELAYS.flatMap((delay) => [...text.matchAll(new RegExp(delay, "g"))]);
    assert.deepEqual(
      others.map(({ index }) => text.slice(Math.max(index - 60, 0), index + 30)),
      [],
      "state it by its constant in this file, or say that it is not ours",
    );
  });

const sources = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .map((file) => join(folder, String(file)))
    .filter((file) => file.endsWith(ending));
const withoutComments = (text) =>
  text.replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
/** Matches the list of times for which a person can keep a replaced API key valid. */
const CHOICES = /const KEEPS.*?\];/s;

test("pages and commands take every delay from a constant", () => {
  const files = [
    ...sources("src/office", ".rs"),
    ...sources("scripts", ".mjs").filter((file) => !SETS_UP.includes(file)),
  ];
  assert.ok(files.length > 60);
  const found = files.flatMap((file) => {
    const text = withoutComments(read(file)).replace(CHOICES, "").replaceAll(/\s+/g, " ");
    return DELAYS.map((delay) => text.match(delay)?.[0])
      .filter(Boolean)
      .map((words) => `${file}: ${words}`);
  });
  assert.deepEqual(found, []);
});

test("the text about the first reconciliation has the interval of the cron trigger", () => {
  const minutes = constant("src/office/system/rows/health.rs", "CRON_MINUTES");
  assert.match(read("wrangler.dashboard.toml"), new RegExp(`^crons = \\["\\*/${minutes} `, "m"));
});

test("recover.js has the same deadlines for notifications and Workers KV as the wasm", () => {
  const recover = "src/doors/cloudflare/recover.js";
  assert.equal(
    constant(recover, "SEND_MS"),
    constant("src/doors/delivery_worker/messaging.rs", "SEND_MS"),
  );
  assert.equal(
    constant(recover, "WRITE_MS"),
    constant("src/doors/cloudflare/kv/mod.rs", "WRITE_MS"),
  );
});
