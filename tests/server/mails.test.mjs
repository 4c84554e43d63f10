/**
 * Tests the Worker's e-mails: while the queue or a mail service fails or hangs, and after a message has
 * broken the WebAssembly instance that received it.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test, { after, before } from "node:test";
import { create, get, send } from "../e2e/worker.mjs";
import { until } from "../support/until.mjs";
import { startWorkerd } from "./workerd.mjs";

const KEY = "service_sk_live_dev_unit";
const SHOP = {
  name: "Small Hours Coffee",
  mail: true,
  replyTo: "hello&hi@coffee.example",
  timeZone: "America/St_Johns",
};
/**
 * A trigger in the night to 1 July, UTC. In the shop's time zone, which is 2:30 hours behind UTC, the date is
 * still 30 June.
 */
const TRIGGER = { date: "2026-07-01T02:15:00Z", phrase: "placed an order" };
const IN_ZONE = "30 June 2026";
const ORDER = {
  reference: "canary-order",
  recipient: { email: "ada@example.org", name: "Ada Canary" },
  pledges: [
    {
      impact: { amount: 3, offeringId: "tree" },
      detail: { nounSingular: "tree", nounPlural: "trees" },
    },
  ],
  trigger: TRIGGER,
  notifications: ["Email"],
};
/**
 * Headers that make the Worker's timers run ten times as fast. The log still shows the durations that the
 * code has set.
 */
const FAST = { "x-speed": "10" };

let server, close;
before(async () => {
  ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs"));
  await server.seed([{ key: "profile:unit_dev", value: JSON.stringify(SHOP) }]);
  const headers = { "x-stand-in": "the queue works", "x-mail": "on" };
  await send(server.origin, { method: "GET", path: "/healthz", headers });
});
after(() => close?.());

/** The number of transactions so far. Each is for a different person, because one person gets at most five e-mails a day. */
let orders = 0;
const order = (standIn, more = {}) =>
  create(
    server.origin,
    KEY,
    { ...ORDER, recipient: { ...ORDER.recipient, email: `ada@${++orders}.example` } },
    { "x-stand-in": standIn, ...more },
  );

async function created(standIn = "the queue works", more = {}) {
  const { status, text } = await order(standIn, more);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

/** Delivers a message. Returns its outcome. */
async function deliver(standIn, { id, createdAt }, { headers = {}, ...more } = {}) {
  const queue = "impact-pledge-notifications";
  const body = { id, createdAt, round: 1, service: "Email" };
  const answer = await send(server.origin, {
    method: "POST",
    path: "/delivery",
    headers: { "x-stand-in": standIn, ...headers },
    body: JSON.stringify({ queue, body, attempts: 1, ...more }),
  });
  assert.equal(answer.status, 200, server.output);
  return JSON.parse(answer.text);
}

/** Returns what the queue and the mail services have received since the last call. */
const taken = async () =>
  JSON.parse((await send(server.origin, { method: "GET", path: "/taken" })).text);

/** Returns a record of the Worker's KV. */
async function record(name) {
  const path = `/${encodeURIComponent(name)}`;
  const { status, text, headers } = await send(`http://127.0.0.1:${server.ports.kv}`, {
    method: "GET",
    path,
  });
  return status === 200
    ? { value: JSON.parse(text), metadata: JSON.parse(headers["cf-kv-metadata"] ?? "null") }
    : undefined;
}

/** Returns the JSON lines that the Worker has logged about a transaction or its message. */
const linesOf = (id) =>
  (server.output.match(/^\{.*\}$/gm) ?? [])
    .map((line) => JSON.parse(line))
    .filter((line) => [line.transaction, line.notification].includes(id));

/**
 * Returns the causes that the log states for a transaction's message. The log line may come after the
 * answer, so this function waits for it.
 */
async function causesOf(id) {
  const causes = () =>
    linesOf(id).flatMap(({ notification, cause }) => (notification ? [cause] : []));
  await until(() => causes().length > 0);
  return causes();
}

// ---- Into the queue ------------------------------------------------------------------------------

test("a create puts a message without personal data into the queue", async () => {
  const { id, createdAt } = await created();
  assert.deepEqual(await taken(), [
    {
      message: { id, createdAt, round: 1, service: "Email" },
      options: { contentType: "json", delaySeconds: 60 },
    },
  ]);
  assert.equal((await record(`transaction:${id}`)).metadata.summary.mail, undefined);
});

for (const [standIn, cause] of [
  ["the queue fails", "Error: at once"],
  ["the queue fails later", 'JsValue("later")'],
  ["the queue answers nothing", /TypeError/],
  ["the queue is none", /TypeError/],
  ["the queue hangs", "no answer in 2000 ms"],
])
  test(`${standIn}: the pledge is recorded, and its mail is shown as unsent`, async () => {
    const logged = server.output.length;
    const { id, createdAt } = await created(standIn, FAST);
    assert.equal((await get(server.origin, KEY, id)).status, 200);
    assert.equal((await record(`transaction:${id}`)).metadata.summary.mail, "unsent");
    assert.ok(await record(`mail-failed:${createdAt.slice(0, 10)}:${id}`));
    assert.equal(linesOf(id).filter(({ mail }) => mail === "unsent").length, 1);
    const causes = [...server.output.slice(logged).matchAll(/"NOTIFICATIONS","cause":(".*")\}/g)];
    assert.equal(causes.length, 1);
    assert.match(
      JSON.parse(causes[0][1]),
      cause instanceof RegExp ? cause : RegExp(`^${cause.replace(/[()]/g, "\\$&")}`),
    );
    assert.deepEqual(await taken(), []);
  });

test("the page has its dates in the shop's time zone", async () => {
  const { timelineUrl } = await created("no queue");
  const { pathname, search } = new URL(timelineUrl);
  const { text } = await send(server.origin, { method: "GET", path: pathname + search });
  assert.ok(text.includes(`<time datetime="2026-06-30">${IN_ZONE}</time>`), text);
});

// ---- Out of the queue ----------------------------------------------------------------------------

const SOON = { retry: { delaySeconds: 60 } };
const DONE = { ack: true };

/**
 * For each behaviour of a mail service: the outcome of the message, the logged cause, and the number of
 * requests.
 */
const MAILS = {
  "mail is sent": [DONE, "sent", 1],
  "mail is sent later": [DONE, "sent", 1],
  "mail is sent, without an ID": [DONE, "sent", 1],
  "mail is refused": [DONE, "E_RECIPIENT_SUPPRESSED", 0],
  "mail fails": [SOON, "E_INTERNAL_SERVER_ERROR", 0],
  "mail's code is an address": [SOON, "unknown", 0],
  "mail's code throws": [SOON, "unknown", 0],
  "mail fails with a text": [SOON, "unknown", 0],
  "mail answers nothing": [SOON, "unknown", 0],
  "mail is none": [SOON, "unknown", 0],
  "mail hangs": [SOON, "no-answer", 0],
  "no mail service": [SOON, "no-mail-service", 0],
  "Resend sends": [DONE, "sent", 1],
  "Resend is busy for a second": [DONE, "sent", 2],
  "Resend is busy until tomorrow": [{ retry: { delaySeconds: 40_000 } }, "daily_quota_exceeded", 1],
  "Resend has it in hand": [SOON, "concurrent_idempotent_requests", 1],
  "Resend has sent it before": [DONE, "sent", 1],
  "Resend refuses": [DONE, "validation_error", 1],
  "Resend answers HTML": [SOON, "status-502", 1],
  "Resend redirects": [SOON, "status-307", 1],
  "Resend's answer stalls": [SOON, "no-answer", 1],
  "Resend's answer never ends": [SOON, "status-500", 1],
  "Resend hangs": [SOON, "no-answer", 1],
  "Resend cannot be reached": [SOON, "no-answer", 1],
};

for (const [standIn, [outcome, cause, asked]] of Object.entries(MAILS))
  test(`${standIn}: ${cause}`, async () => {
    const transaction = await created("no queue");
    const { id } = transaction;
    assert.deepEqual(await deliver(standIn, transaction, { headers: FAST }), outcome);
    const requests = await taken();
    assert.equal(requests.length, asked);
    for (const request of requests) {
      const { to, subject, text, headers } = request.mail ?? request;
      assert.deepEqual([to].flat(), [`ada@${orders}.example`]);
      assert.equal(subject, "Small Hours Coffee has pledged 3 trees for you");
      assert.ok(text.includes(`placed an order · ${IN_ZONE}\n`), text);
      assert.equal(
        headers["List-Unsubscribe"],
        `<mailto:hello%26hi@coffee.example?subject=Unsubscribe%20${id}>`,
      );
      if (request.mail) assert.equal(request.key, `pledge/${id}/1`);
    }
    assert.deepEqual(await causesOf(id), [cause]);
    const marker = (await record(`notification:${id}`))?.value;
    const state = cause === "sent" ? "sent" : "failed";
    assert.equal(marker?.state, outcome === DONE ? state : undefined);
    assert.doesNotMatch(JSON.stringify(marker ?? {}), /ada@|Canary/i);
  });

const DAY_MS = 24 * 60 * 60_000;
/**
 * The middle of the hour from 00:05 to 01:05 UTC, in milliseconds since midnight. If the mail quota is used
 * up in this hour, a message waits for half a day. At other times, it waits until the next day.
 */
const MIDDLE_MS = 35 * 60_000;

test("the mail quota is used up: the e-mail is retried on the next day, and listed until then", async () => {
  const transaction = await created("no queue");
  const { id } = transaction;
  const attempts = 10; // even at a late attempt
  const asked = Date.now();
  const { retry } = await deliver("mail's quota is used up", transaction, {
    attempts,
    headers: FAST,
  });
  const until = asked + retry.delaySeconds * 1000;
  // Shortly after the retries at the beginning of a day, the quota's day may follow another time zone.
  const isSoonAfter =
    Math.abs((asked % DAY_MS) - MIDDLE_MS) < 31 * 60_000 && retry.delaySeconds === 43_200;
  if (!isSoonAfter) assert.notEqual(new Date(until).getUTCDate(), new Date(asked).getUTCDate());
  assert.ok(retry.delaySeconds <= 24 * 60 * 60, "the longest wait of a queue");
  assert.deepEqual(await causesOf(id), ["E_DAILY_LIMIT_EXCEEDED"]);
  const queued = (await record(`mail-queued:${id}`))?.value;
  assert.deepEqual([queued?.round, queued?.reason], [1, "E_DAILY_LIMIT_EXCEEDED"]);
  assert.ok(await record(`mail-failed:${queued.at.slice(0, 10)}:${id}`));
  assert.equal(await record(`notification:${id}`), undefined);
});

for (const [problem, apiKey, cause] of [
  ["no header can hold", "re_\n\u20ac", "no-api-key"],
  ["is blank", " \n", "no-mail-service"],
])
  test(`an API key that ${problem}: the message is delivered again`, async () => {
    const transaction = await created("no queue");
    const outcome = await deliver("Resend sends", transaction, { apiKey });
    assert.deepEqual([outcome, await taken()], [SOON, []]);
    assert.deepEqual(await causesOf(transaction.id), [cause]);
  });

test("a message that is not of this service is dropped, and the log shows nothing of it", async () => {
  for (const body of [null, "ada@example.org", 7, {}, { id: "ada@example.org", createdAt: "" }])
    assert.deepEqual(await deliver("mail is sent", {}, { body }), DONE);
  assert.deepEqual(await taken(), []);
});

test("a message of the dead letter queue marks its e-mail as failed", async () => {
  const transaction = await created("no queue");
  const queue = "impact-pledge-notifications-dead";
  assert.deepEqual(await deliver("mail is sent", transaction, { queue }), DONE);
  assert.deepEqual(await taken(), []);
  const { value } = await record(`notification:${transaction.id}`);
  assert.equal(value.reason, "no-more-attempts");
});

test("no address, name, reference or edit key is in a log line", () => {
  assert.doesNotMatch(server.output, /ada@|canary|edit_key|coffee|re_/i);
});

// ---- Side by side --------------------------------------------------------------------------------

test("a mail service that hangs delays no other message", async () => {
  const [slow, ...others] = await Promise.all(Array.from({ length: 4 }, () => created("no queue")));
  const ended = [];
  const note = async (name, delivery) => void ended.push([name, await delivery]);
  const hanging = note("slow", deliver("mail hangs", slow, { headers: FAST }));
  await Promise.all(
    others.map((other) => note("other", deliver("mail is sent", other, { headers: FAST }))),
  );
  await hanging;
  assert.deepEqual(ended, [...others.map(() => ["other", DONE]), ["slow", SOON]]);
  assert.equal((await taken()).length, others.length);
});

test("messages of one round that arrive together cause one e-mail", async () => {
  const transaction = await created("no queue");
  const together = Array.from({ length: 8 }, () => deliver("mail is sent later", transaction));
  assert.deepEqual(await Promise.all(together), Array(8).fill(DONE));
  assert.equal((await taken()).length, 1);
});

// ---- What a buyer asked for ----------------------------------------------------------------------

/** Sends a request to a page, and returns its text. */
async function page(method, url, more = {}) {
  const { pathname, search } = new URL(url);
  const headers = { "x-stand-in": "the queue works" };
  const answer = await send(server.origin, { method, path: pathname + search, headers, ...more });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** Publishes updates about the trees of a transaction, as the dashboard does. */
async function publish({ createdAt }, ...ids) {
  const tree = createHash("sha256").update("tree").digest("hex");
  const texts = { en: "The seedlings are in the ground." };
  const updates = ids.map((id) => ({ id, stage: "done", date: createdAt.slice(0, 10), texts }));
  const value = JSON.stringify({ version: 1, updates });
  await server.seed([{ key: `updates:live:${tree}:${createdAt.slice(0, 7)}`, value }]);
}

/** Returns the message for an e-mail with this news, which is queued `months` after the creation. */
const newsOf = ({ id, createdAt }, months, ...updates) => ({
  id,
  createdAt,
  round: Number(createdAt.slice(0, 7).replace("-", "")) + months,
  service: "Email",
  updates,
});

test("a buyer who asked gets one e-mail when something happened, and ends them by one click", async () => {
  const transaction = await created("no queue");
  const { id, createdAt, timelineUrl } = transaction;
  assert.match(await page("GET", timelineUrl), /E-mail me when something happens/);
  assert.match(await page("POST", `${timelineUrl}&news=on`), /Stop these e-mails/);
  const subscription = `news:${createdAt.slice(0, 7)}:${id}`;
  assert.equal((await record(subscription)).metadata.createdAt, createdAt);
  await publish(transaction, "upd_1");
  const body = newsOf(transaction, 0, "upd_1");
  assert.deepEqual(await deliver("mail is sent", transaction, { body, headers: FAST }), DONE);
  const [{ text, headers }] = await taken();
  assert.ok(text.includes("The seedlings are in the ground."), text);
  assert.equal(headers["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click");
  assert.deepEqual((await record(`news-sent:${id}`)).value.told, ["upd_1"]);
  assert.deepEqual(await deliver("mail is sent", transaction, { body, headers: FAST }), DONE);
  const end = headers["List-Unsubscribe"].slice(1, -1);
  await page("GET", end);
  assert.equal((await record(subscription)).value.on, true);
  const oneClick = {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "List-Unsubscribe=One-Click",
  };
  await page("POST", end, oneClick);
  assert.equal((await record(subscription)).value.on, false);
  await publish(transaction, "upd_2", "upd_1");
  const later = { body: newsOf(transaction, 1, "upd_2"), headers: FAST };
  assert.deepEqual(await deliver("mail is sent", transaction, later), DONE);
  assert.deepEqual(await taken(), []);
  const causes = ["sent", "sent or skipped before", "not asked for"];
  await until(() => linesOf(id).filter((line) => line.notification).length === causes.length);
  assert.deepEqual(await causesOf(id), causes);
});

test("an e-mail with news whose instance breaks is sent once, and marked", async () => {
  const transaction = await created("no queue");
  await page("POST", `${transaction.timelineUrl}&news=on`);
  await publish(transaction, "upd_3", "upd_2", "upd_1");
  const body = newsOf(transaction, 0, "upd_3");
  const standIn = "mail is sent after its instance broke";
  assert.deepEqual(await deliver(standIn, transaction, { body, headers: FAST }), DONE);
  assert.ok((await record(`news-sent:${transaction.id}`)).value.told.includes("upd_3"));
  assert.equal(await record(`notification:${transaction.id}`), undefined);
  assert.deepEqual(await deliver("mail is sent", transaction, { body, headers: FAST }), DONE);
  assert.equal((await taken()).length, 1);
});

// ---- A broken instance ---------------------------------------------------------------------------

test("an e-mail that the mail service has accepted when its instance breaks is sent once, and marked", async () => {
  const transaction = await created("no queue");
  assert.deepEqual(await deliver("mail is sent after its instance broke", transaction), DONE);
  assert.equal((await record(`notification:${transaction.id}`))?.value.state, "sent");
  assert.deepEqual(await deliver("mail is sent", transaction), DONE);
  assert.equal((await taken()).length, 1);
});

test("an e-mail that may have been sent when its instance breaks is not resent before its claim ends", async () => {
  const transaction = await created("no queue");
  const standIn = "mail hangs after its instance broke";
  assert.deepEqual(await deliver(standIn, transaction, { headers: FAST }), SOON);
  const { retry } = await deliver("mail is sent", transaction);
  assert.ok(retry.delaySeconds > 60, `${retry.delaySeconds}`);
  assert.deepEqual(await taken(), []);
  assert.equal(await record(`notification:${transaction.id}`), undefined);
});

test("messages that break their instance cost no create and no other message", async () => {
  const neighbours = await Promise.all(Array.from({ length: 10 }, () => created("no queue")));
  const poison = await created("no queue");
  const creates = Array.from({ length: 200 }, () => order("KV is slow"));
  const delivered = neighbours.map(async (neighbour) => {
    const [broken, good] = await Promise.all([
      deliver("metadata traps", poison),
      deliver("mail is sent later", neighbour),
    ]);
    assert.deepEqual([broken, good], [SOON, DONE]);
  });
  for (const { status, text } of await Promise.all(creates)) assert.equal(status, 200, text);
  await Promise.all(delivered);
  const links = (await taken()).map(({ text }) => text.match(/ptran_\w+/)[0]);
  assert.deepEqual(links.sort(), neighbours.map(({ id }) => id).sort());
});
