/** Tests `npm run emails`, which shows, previews and resends e-mails. */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import test from "node:test";
import { onLoopback } from "../support/loopback.mjs";
import { deployedLedger } from "./cloudflare.mjs";
import { ENTRIES, ID, LIVE_ID, RECORDS, operator } from "./operator.mjs";
import { contents, run, scratch } from "./script.mjs";

const HOUR = 3_600_000;
const FIRST = new Date(Date.now() - HOUR).toISOString();
/** The records of a live transaction, created an hour ago, and of its unit, for which e-mails are switched on. */
const MAILED = (() => {
  const { value, metadata } = RECORDS[`transaction:${LIVE_ID}`];
  const profile = { name: "Nord", mail: true, replyTo: "hello@nord.example" };
  return [
    {
      key: `transaction:${LIVE_ID}`,
      value: JSON.stringify({ ...JSON.parse(value), createdAt: FIRST }),
      metadata,
    },
    { key: "profile:unit_dev_two", value: JSON.stringify(profile) },
  ];
})();
const NOTIFICATION = `notification:${LIVE_ID}`;
const SENT = { state: "sent", round: 2, at: FIRST, attempts: 3, providerId: "mail-1" };
const LIST = ["emails", "failed"];
const [SHOW, RESEND, PREVIEW] = ["show", "resend", "preview"].map((name) => [
  "emails",
  name,
  LIVE_ID,
]);

test("the state of an e-mail is shown, failures are listed, and an e-mail can be previewed", async (t) => {
  const { kv, json, words, fails, printed } = await operator(t);
  await kv.write([...ENTRIES, ...MAILED]);
  const unit = "unit_dev_two";
  const row = { id: LIVE_ID, mode: "live", unit, reference: "order-1001", createdAt: FIRST };
  const waiting = { ...row, recipient: "a…@e…", mail: { state: "waiting" } };
  assert.deepEqual(await json(...SHOW), waiting);
  assert.match(await words("transactions", "show", LIVE_ID), /^E-mail state +waiting$/m);
  assert.deepEqual((await json("transactions", "show", LIVE_ID)).mail, { state: "waiting" });
  assert.match(await words("emails", "show", ID), /^E-mail +off: the unit's e-mails are off$/m);
  assert.match(await words(...LIST), /^No failed e-mails or messages\.$/m);

  const failure = { state: "failed", reason: "E_RECIPIENT_SUPPRESSED", round: 1, at: FIRST };
  await kv.write([
    { key: NOTIFICATION, value: JSON.stringify({ ...failure, attempts: 1 }) },
    { key: `mail-failed:2026-11-20:${LIVE_ID}`, value: "{}" },
    { key: `mail-failed:2026-11-21:${ID}`, value: "{}" },
  ]);
  const { failed, more } = await json(...LIST);
  const days = failed.map(({ day, id }) => [day, id]);
  assert.deepEqual(days, [
    ["2026-11-21", ID],
    ["2026-11-20", LIVE_ID],
  ]);
  assert.deepEqual([failed[1].now.mail, more], [{ ...failure, attempts: 1 }, false]);
  await kv.write([{ key: NOTIFICATION, value: JSON.stringify(SENT) }]);
  const line = `2026-11-20  ${LIVE_ID}  Email    unit_dev_two  live  sent, ${FIRST}, attempt 3, round 2, ID mail-1`;
  assert.ok((await words(...LIST, "--day", "2026-11-20")).endsWith(`${line}\n`));
  assert.match(await words(...LIST, "--limit", "1"), /^There are more: raise `--limit`/m);
  assert.doesNotMatch(printed.join(""), /ada@|edit_key/);

  const file = join(scratch(t), "mail.html");
  const preview = await words(...PREVIEW, "--html", file);
  for (const text of [
    /^From +Nord$/m,
    /^To +a…@e…$/m,
    /^Reply-To +hello@nord\.example$/m,
    /^Subject +Nord has pledged 3 trees for you$/m,
    /^Hello Ada,$/m,
    /^http:\/\/pledge\.example\/timeline\/ptran_.+edit_key=/m,
  ])
    assert.match(preview, text);
  assert.match(readFileSync(file, "utf8"), /^<!DOCTYPE html>.*Nord has pledged 3 trees for you/);
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  const exists = `${file} already exists, and is not overwritten: choose another name`;
  await fails([...PREVIEW, "--html", file], exists);
});

test("an e-mail is resent locally, and an erasure also removes the hash of its address", async (t) => {
  const { kv, json, words, fails, command, names } = await operator(t);
  const messages = [];
  const { origin, close } = await onLoopback(
    createServer(async (request, response) => {
      const body = String(await buffer(request));
      if (request.url === "/developer/notifications") messages.push(JSON.parse(body));
      response.writeHead(request.method === "POST" ? 202 : 200).end();
    }),
  );
  t.after(close);
  await kv.write([...ENTRIES, ...MAILED, { key: NOTIFICATION, value: JSON.stringify(SENT) }]);
  const before = await contents(kv);
  const at = ["--origin", origin];
  const { problem } = await command(1, [...RESEND, ...at]);
  for (const said of [
    `Delivery state: sent, ${FIRST}, attempt 3, round 2, ID mail-1. The e-mail was already sent: the recipient gets a second e-mail.`,
    `Send the e-mail of ${LIVE_ID} to a…@e… (round 3)? This was not confirmed, so nothing was sent. To confirm without a prompt, pass \`--yes\``,
  ])
    assert.ok(problem.includes(said), problem);
  await fails(
    ["emails", "resend", ID, ...at, "--yes"],
    `the e-mail of ${ID} cannot be sent: the e-mails of the unit \`unit_dev\` are off: \`units set unit_dev --mail on\` turns them on`,
  );
  assert.deepEqual([await contents(kv), messages], [before, []]);
  const message = { id: LIVE_ID, createdAt: FIRST, round: 3 };
  assert.deepEqual(await json(...RESEND, ...at, "--yes"), { ...message, before: SENT });
  assert.deepEqual(messages, [{ ...message, service: "Email" }]);
  const [change] = await unchanged(kv, before);
  assert.deepEqual([change.command, change.on], ["emails resend", [LIVE_ID]]);

  const { before: queued } = await json(...RESEND, ...at, "--yes");
  assert.deepEqual([queued.state, queued.round, messages.length], ["waiting", 3, 1]);
  assert.match(
    await words(...RESEND, ...at, "--yes"),
    /^The notification is already queued, and was not queued/m,
  );
  const { round } = await json(...RESEND, ...at, "--yes", "--again");
  assert.deepEqual([round, messages.map(({ round }) => round)], [4, [3, 4]]);
  assert.equal((await unchanged(kv, before)).length, 2);

  const failure = { state: "failed", reason: "no-more-attempts", round: 4, at: FIRST, attempts: 6 };
  const failed = [NOTIFICATION, JSON.stringify(failure)];
  const listed = [`mail-failed:${FIRST.slice(0, 10)}:${LIVE_ID}`, "{}"];
  await kv.write([failed, listed].map(([key, value]) => ({ key, value })));
  const ofDay = ["emails", "resend", "--failed-on", FIRST.slice(0, 10), ...at];
  await fails(
    ofDay,
    /^Resend all e-mails and messages that failed on 2026-.+ since then\? This was not confirmed/,
  );
  const counts = { day: FIRST.slice(0, 10), alreadyQueued: 0, ended: 0, refused: [] };
  assert.deepEqual(await json(...ofDay, "--yes"), { ...counts, queued: 1 });
  assert.match(await words(...ofDay, "--yes"), /^Queued +0\nAlready queued +1\nSent, skipped/m);
  assert.deepEqual(messages.at(-1), { ...message, round: 5, service: "Email" });
  assert.equal(messages.length, 3);

  await kv.write(
    [failed, [`cancelled:${LIVE_ID}`, JSON.stringify({ at: FIRST })]].map(([key, value]) => ({
      key,
      value,
    })),
  );
  await kv.remove([`mail-queued:${LIVE_ID}`]);
  const cancelled = `the e-mail of ${LIVE_ID} cannot be sent: the transaction was cancelled on ${FIRST}`;
  assert.match(await words("emails", "show", LIVE_ID), /failed: .+, transaction cancelled \S+Z$/m);
  await fails([...RESEND, ...at, "--yes", "--again"], cancelled);
  const refused = [[LIVE_ID, cancelled]];
  assert.deepEqual(await json(...ofDay, "--yes"), { ...counts, queued: 0, refused });
  assert.equal(messages.length, 3);
  await kv.remove([`cancelled:${LIVE_ID}`]);

  await close();
  const nothing = /^no service answers at http.+: run `npm start`, or pass the address/;
  await fails([...RESEND, ...at, "--yes", "--again"], nothing);
  await fails([...ofDay, "--yes"], nothing);

  const hash = "0123456789abcdef".repeat(2);
  const day = new Date().toISOString().slice(0, 10);
  await kv.write([
    { key: NOTIFICATION, value: JSON.stringify({ ...SENT, address: hash }) },
    { key: `mailed:${day}:${hash}:${LIVE_ID}`, value: "{}" },
    { key: `mail-failed:${day}:${LIVE_ID}`, value: "{}" },
  ]);
  await command(0, ["transactions", "erase", LIVE_ID, "--yes"]);
  assert.doesNotMatch(JSON.stringify(await contents(kv)), new RegExp(hash));
  assert.ok((await names()).includes(`mail-failed:${day}:${LIVE_ID}`));
  assert.deepEqual((await json(...SHOW)).mail, { state: "erased" });
  for (const args of [[...RESEND, ...at], PREVIEW])
    await fails(args, /^the e-mail of \S+ cannot be sent: the recipient's data was erased on /);
});

/**
 * Asserts that a command has added no records except audit log entries and notes of queued e-mails. Returns
 * the new audit log entries.
 */
async function unchanged(kv, before) {
  const now = Object.entries(await contents(kv)).filter(([name]) => !(name in before));
  const added = now.filter(([name]) => !name.startsWith("mail-queued:"));
  assert.ok(added.every(([name]) => name.startsWith("audit:")));
  return added.map(([, { value }]) => JSON.parse(value ?? ""));
}

test("an e-mail is resent through the queue of the deployed Worker, without personal data in the message", async (t) => {
  const { env, account } = await deployedLedger(t, { page: 100 });
  const [{ extras }] = account.namespaces;
  for (const { key, value, metadata } of MAILED) {
    account.records.set(key, value);
    extras.set(key, { metadata });
  }
  const args = ["resend", LIVE_ID, "--again", "--remote", "--yes", "--json", "--by", "Zoë"];
  const resend = () => run("emails", args, { env });
  const isAudit = (name) => name.startsWith("audit:");
  const unbound = await resend();
  assert.match(
    unbound.problem,
    /^stopped: the Worker `impact-pledge` of the account account-1 has no queue bound as NOTIFICATIONS, so the Worker sends no notifications \(account account-1, /,
  );
  assert.ok(![...account.records.keys()].some(isAudit));
  const queue_name = "impact-pledge-notifications";
  const binding = { type: "queue", name: "NOTIFICATIONS", queue_name };
  account.bindings.get("impact-pledge").push(binding);
  assert.match((await resend()).problem, /^stopped: the account account-1 has no queue `impact-/);
  const queue = { queue_id: "queue-1", queue_name, messages: [] };
  account.queues.push(queue);
  const { code, out, problem } = await resend();
  assert.equal(code, 0, problem);
  const message = { id: LIVE_ID, createdAt: FIRST, round: 2 };
  const { place, ...answer } = JSON.parse(out);
  assert.deepEqual(answer, { ...message, before: { state: "waiting" } });
  assert.equal(place.worker, "impact-pledge");
  const body = { ...message, service: "Email" };
  assert.deepEqual(queue.messages, [{ body, content_type: "json" }]);
  const [audit, ...others] = [...account.records].filter(([name]) => isAudit(name));
  assert.deepEqual([JSON.parse(audit[1]).by, others], ["Zoë", []]);
  assert.doesNotMatch(audit[1] + out, /ada@|Ada|edit_key/);

  account.fault = (asked) => (/^POST \/queues/.test(asked) ? { status: 503 } : undefined);
  account.asked.length = 0;
  assert.match((await resend()).problem, /can't put the message into the queue: status 503/);
  const puts = account.asked.filter((asked) => asked === "POST /queues/queue-1/messages");
  assert.equal(puts.length, 1, "it may have been put there");
});
