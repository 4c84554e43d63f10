/** Each delay that a document states is the value of a constant, or a fact that is not ours and is listed here. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import {
  APPLIED_SECONDS as APPLIED,
  FAILED_MAIL_DAYS as FAILED,
  NOTIFICATION_DAYS as KEPT,
  REFUSED_SECONDS as REFUSED,
  SHOWN_SECONDS as SHOWN,
  WAITING_HOURS as WAITING,
} from "../../scripts/lib/delays.mjs";

const ROOT = join(import.meta.dirname, "../..");
const read = (file) => readFileSync(join(ROOT, file), "utf8");

/**
 * A constant of a source: a product of numbers and of other constants of that file. `nth` where the name occurs again.
 * @param {string} file @param {string} name @param {number} [nth] @returns {number}
 */
function constant(file, name, nth = 0) {
  const found = read(file).matchAll(
    new RegExp(`\\b${name}(?:: [ui]\\d+)?(?: =|:) ([\\w *]+)[;,]`, "g"),
  );
  const value = [...found][nth]?.[1];
  assert.ok(value, `${file} has no ${name}`);
  return value.split("*").reduce((product, text) => product * factor(file, text.trim()), 1);
}

/** A number, or a constant of that file. */
const factor = (file, text) =>
  /^\d/.test(text) ? Number(text.replaceAll("_", "")) : constant(file, text);

/** A constant in milliseconds. */
const seconds = (...of) => constant(...of) / 1_000;
const minutes = (...of) => constant(...of) / 60_000;

/** A constant that is a list. @returns {number[]} */
function numbers(file, name) {
  const [, list] = read(file).match(new RegExp(`const ${name}.* = \\[(.*)\\];`)) ?? [];
  assert.ok(list, `${file} has no ${name}`);
  return list.split(",").map((text) => factor(file, text.trim()));
}

const CACHED = constant("src/store/key.rs", "LEAST_CACHE_SECONDS");
const COUNTED = constant("src/store/key.rs", "MAILED_DAYS");
const QUEUED = constant("src/store/key.rs", "QUEUED_DAYS");
const CLAIM = seconds("src/notify/claim.rs", "CLAIM_MS");
const READ = seconds("src/store/key.rs", "READ_MS");
const PROFILE = seconds("src/store/key.rs", "READ_MS", 1);
const WRITE = seconds("src/workers/kv/mod.rs", "WRITE_MS");
const USED = seconds("src/handle/cache.rs", "LIFETIME_MS");
const EXEMPT = minutes("src/handle/cache.rs", "EXEMPT_MS");
const RECENT = minutes("src/handle/recent.rs", "LIFETIME_MS");
const BODY = seconds("src/workers/request.rs", "BODY_MS");
const PIECE = seconds("src/workers/request.rs", "PIECE_MS");
const QUEUE = seconds("src/workers/queue.rs", "PUT_MS");
const MAIL = seconds("src/consumer/mail.rs", "SEND_MS");
const PAUSE = constant("src/consumer/mail.rs", "MAX_PAUSE_SECONDS");
/** An e-mail takes at most so long: the last pause that is waited for, and the two deadlines of the try after it. */
const MAILED = seconds("src/consumer/mail.rs", "PATIENCE_MS") + PAUSE + 2 * MAIL;
const DELAY = constant("src/notify/schedule.rs", "DELAY_SECONDS");
const ABSENT = numbers("src/notify/schedule.rs", "ABSENT_AFTER").map((wait) => wait / 60);
const AGAIN = numbers("src/notify/schedule.rs", "FAILED_AFTER");
const TRIED = Math.ceil(AGAIN.reduce((sum, wait) => sum + wait) / 3_600);
const MOST = constant("src/notify/schedule.rs", "MAX_WAIT") / 3_600;
const FORM = minutes("src/operator/operation_id.rs", "VALID_MS");
const UNDER_WAY = seconds("src/ledger/operations.rs", "UNDER_WAY_MS");
const DONE = constant("src/ledger/operations.rs", "KEPT_DAYS");
const LATE = constant("src/operator/conflict.rs", "LATE_MINUTES");
const SETTLE = seconds("src/store/operator.rs", "SETTLE_MS");
const ERASABLE = constant("src/operator/transactions/erase.rs", "ERASABLE_MINUTES");
const ENDED = constant("src/settlement.rs", "ENDED_AFTER_HOURS");
const LIFE = constant("scripts/lib/restore.mjs", "LEAST_LIFE");
const [SHORT, LONG] = [
  AGAIN.slice(0, 3).map((wait) => wait / 60),
  AGAIN.slice(3).map((wait) => wait / 3_600),
];

/** What each page states, by constants. @type {Record<string, string[]>} */
const STATED = {
  "docs/operating.md": [
    `made within the last ${SHOWN} s`,
    `up to ${SHOWN} s later where that very key was tried`,
    `refused everywhere after ${REFUSED} s: Cloudflare's locations answer from their KV cache for up to ${CACHED} s`,
    `has verified for up to ${USED} s more`,
    `up to ${SHOWN} s later where the team's key has named it`,
    `refused everywhere after ${REFUSED} s, as a revoked key`,
    `after about ${APPLIED} s: ${SHOWN} s, KV's usual bound, and the ${USED} s of a running Worker`,
    `takes about ${2 * SETTLE} s longer`,
    `seen everywhere after about ${APPLIED} s: a running Worker keeps a profile for ${USED} s, Workers KV's cache up to ${SHOWN} s or more`,
    `read within ${PROFILE} s`,
    `keyed by the secret; ${KEPT} days`,
    `failed on that day; ${FAILED} days`,
    `which delivery claimed it until when; ${COUNTED} days`,
    `and its next attempt; ${QUEUED} days`,
    `message about a transaction; ${constant("src/store/key.rs", "LEDGER_UNSENT_DAYS")} days`,
    `transactions of the last ${SHOWN} s`,
    `again, for ${KEPT} and ${COUNTED} days`,
    `younger than ${ERASABLE} minutes`,
    `run again in ${ERASABLE} minutes`,
    `locations | about ${SHOWN} s`,
    `within the last ${WAITING} hours`,
    `heard of it for ${WAITING} hours`,
    `older than ${KEPT} days`,
    `of the last ${FAILED} days`,
    `hold for ${COUNTED} days`,
    `from ${ENDED} hours after its end on`,
    `or does within ${LIFE} s`,
    `unseen elsewhere for ${SHOWN} s or more`,
    `within ${RECENT} minutes. Replay records do not expire. Of those ${RECENT} minutes`,
    `accepted within ${EXEMPT} minutes`,
    `"no answer in ${READ * 1_000} ms"`,
    `A body | ${BODY} s; each 16 KiB, or less at its end, within ${PIECE} s`,
    `A read of Workers KV | ${READ} s`,
    `A write to Workers KV | ${WRITE} s`,
    `profiles are kept for ${USED} s; one more for a get of an ended month, but one in ${USED} s`,
  ],
  "docs/notifications.md": [
    `up to ${SHOWN} s late`,
    `queue within ${QUEUE} s`,
    `delivers after ${DELAY} s`,
    `again after ${ABSENT.join(" and ")} minutes`,
    `has not answered after ${MAIL} s`,
    `again after ${SHORT.join(", ").replace(/, (\d+)$/, " and $1")} minutes, ${LONG.join(" and ")} hours`,
    `counts, up to ${MOST} hours`,
    `within these ${TRIED} hours`,
    `does not say so within ${MAIL} s`,
    `its own record ${SHOWN} s later`,
    `# of ${FAILED} days`,
    `after ${WAITING} hours failed`,
    `failed ${WAITING} hours after that attempt was due`,
    `HMAC of the address | ${KEPT} days`,
    `a mailbox gets a day | ${COUNTED} days`,
    `shows a write elsewhere up to ${SHOWN} s late`,
    `sends nothing for ${CLAIM} s, the first wait of the schedule`,
    `waits ${seconds("src/notify/claim.rs", "SETTLE_MS")} s before it reads its claim back`,
    `again after ${CACHED} to ${CLAIM + CACHED} s`,
    `its own record ${SHOWN} s later`,
    `keeps its place for ${MAILED} s at most`,
    `the code | ${QUEUED} days`,
    `lists the failure | ${FAILED} days`,
  ],
  "docs/security.md": [
    `after [${REFUSED} s]`,
    `changes a team is taken for ${FORM} minutes`,
    `it is taken for ${FORM} minutes, and not once`,
    `a change of the last ${LATE} minutes`,
    `waits ${SETTLE} s for the entries`,
    `${BODY} s for a body, ${PIECE} s for each 16 KiB`,
    `${READ} s for a read, ${WRITE} s for a write`,
    `redirects | ${MAIL} s, 4 KiB`,
    `accepted within ${EXEMPT} minutes`,
    `in another location after ${SHOWN} s`,
    `differ by more than ${LATE} minutes`,
  ],
  "docs/dashboard.md": [`within the last ${SHOWN} s`, `works for up to ${REFUSED} s`],
  "docs/ledger.md": [
    `shows a change up to ${SHOWN} s late`,
    `came to for ${DONE} days`,
    `look again in ${UNDER_WAY} s`,
    `taken for ${FORM} minutes after its page`,
    `entry up to ${SHOWN} s late: until`,
    `up to ${minutes("src/ledger/claims.rs", "RECENT_MS")} minutes. The message`,
    `up to ${minutes("src/ledger/state.rs", "SHOWN_AFTER_MS")} minutes before the pass began`,
    `within ${minutes("src/time.rs", "SKEW_MS")} minutes of the real time`,
    `ended for ${ENDED} hours`,
  ],
  "docs/reliability.md": [`caches of ${CACHED} to ${SHOWN} s`, `no more than ${SHOWN} s`],
  "docs/npm.md": [
    `after ${seconds("src/retry.rs", "FIRST_WAIT_MS")} s and then ${2 * seconds("src/retry.rs", "FIRST_WAIT_MS")} s at most`,
    `says, up to ${seconds("src/retry.rs", "LONGEST_RETRY_AFTER_MS")} s`,
    `after ${seconds("pkg-templates/testing/options.ts", "deadlineMs")} s of real time`,
  ],
  "docs/forms.md": [
    `for ${seconds("pkg-templates/form/sending.ts", "LEAVING_MS")} s at most`,
    `waits for them, ${seconds("pkg-templates/form/rules.ts", "PATIENCE_MS")} s at most`,
  ],
  "ARCHITECTURE.md": [
    `show a write ${SHOWN} s late or later`,
    `1 MiB within ${BODY} s`,
    `deadline of ${READ} s, each write one of ${WRITE} s`,
    `does not take within ${QUEUE} s`,
  ],
  "openapi.yaml": [`from ${ENDED} hours after its end on`],
  "README.md": [],
};

/** Facts of others, and of what was run once. */
const NOT_OURS = [
  "at least 60 s (KV's shortest expiry)",
  "reads in 30 ms and writes and lists in 150 ms, and a mail service that takes 400 ms: an e-mail takes 1 s",
  "4 days by default, 24 hours on the free plan",
  "up to 14 days are possible",
  "its 33,000 in two hours",
  "a week of a quota",
  "for an hour with ten times as many",
  "arrives within 10 seconds. Any other",
  '"up to 60 seconds or more"',
  "calls in five minutes",
  "46 minutes at least",
  "10 ms for each request",
  "kept for 3 days",
  "kept for 7 days",
  "below 1 ms each",
  "which Resend knows for 24 hours",
  "keeps a message for 24 hours",
  "(15 minutes, at most 386 MB",
  "inputs in 90 minutes",
  "an hour takes milliseconds",
  "within five minutes, and needs about five minutes for each 150,000",
  "takes five minutes for each 150,000",
  "if it is null for ten minutes",
  "again every five minutes", // the cron of wrangler.dashboard.toml
  "for two hours (two days where",
  "Time Travel](https://developers.cloudflare.com/d1/reference/time-travel/) after 30 days",
  "So 30 days after an erasure",
];

/** What these say of the set-up was measured. */
const SETS_UP = ["scripts/setup/tools.mjs", "scripts/setup/rust.mjs", "scripts/lib/bootstrap.mjs"];

const DELAYS = [
  /\b\d[\d.,]*[ -](?:s|ms|min|seconds?|minutes?|hours?|days?)\b/,
  /\b(?:within|after|about|for|than|to|in) (?:an?|one|two|three|five|ten|half an?|that) (?:minutes?|hours?)\b/,
  /\b(?:a day (?:after|later)|the last (?:second|minute|hour|day)|(?:within|half) a second)\b/,
];

for (const [page, stated] of Object.entries(STATED))
  test(`${page}: delays are those of their constants`, () => {
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
/** How long a replaced key lives is for a person to choose. */
const CHOICES = /const KEEPS.*?\];/s;

test("pages and commands have no delay as a text of their own", () => {
  const files = [
    ...sources("src/dashboard", ".rs"),
    ...sources("src/operator", ".rs"),
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

test("recover.js gives a mail service and Workers KV the time that the wasm gives them", () => {
  const recover = "src/workers/recover.js";
  assert.equal(constant(recover, "SEND_MS"), constant("src/consumer/mail.rs", "SEND_MS"));
  assert.equal(constant(recover, "WRITE_MS"), constant("src/workers/kv/mod.rs", "WRITE_MS"));
});
