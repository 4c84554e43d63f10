/**
 * Tests how the dashboard's Worker keeps its ledger on local D1. Queue messages and KV records become rows of
 * the ledger, even if the database fails for a while.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before, beforeEach } from "node:test";
import { seedData } from "../../scripts/lib/seed.mjs";
import { tools } from "../e2e/script.mjs";
import { send } from "../e2e/worker.mjs";
import { until } from "../support/until.mjs";
import { dashboardConfig, startDashboard } from "./dashboard-worker.mjs";
import { KEY, PATH } from "./workerd.mjs";

const OPERATOR = "operator@small-hours.example";
const FAST = { "x-speed": "50" }; // a deadline of 10 s ends after 200 ms
const MAIN = join("tests", "server", "dashboard-stand-ins.mjs");
const VARS = {
  OPERATORS: OPERATOR,
  DASHBOARD_ORIGIN: "https://dashboard.example",
  MAIL_FROM: "pledges@small-hours.example",
};
const WISH = { main: MAIN, email: OPERATOR, vars: VARS };

let dashboard, harness, origin, kv, db, other;
before(async () => {
  other = secondDashboard();
  const others = [
    { configPath: join(tools.root, "wrangler.toml") },
    { configPath: other.configPath },
  ];
  dashboard = await startDashboard({ ...WISH, others, notifications: true });
  ({ harness, origin, kv, db } = dashboard);
  for (const { key, value, metadata } of (await seedData(tools)).entries)
    await kv.put(key, value, { metadata });
});
after(async () => {
  await dashboard?.close();
  other?.remove();
});
beforeEach(async () => {
  await db.batch(
    [
      "DELETE FROM transactions",
      "DELETE FROM findings",
      "UPDATE reconciliation SET completed = NULL, ended = NULL, started = NULL, cursor = NULL, holder = '', lease = 0, received = NULL",
    ].map((sql) => db.prepare(sql)),
  );
  const { keys } = await kv.list({ prefix: "transaction:" });
  for (const { name } of keys) await kv.delete(name);
  harness.clearLogs();
});

/**
 * Starts another isolate of the dashboard with the same records and database. It does not consume the queue,
 * because a queue has only one consumer.
 */
function secondDashboard() {
  const { configPath, remove } = dashboardConfig(WISH);
  const config = JSON.parse(readFileSync(configPath, "utf8"));
  writeFileSync(configPath, JSON.stringify({ ...config, name: "second", queues: {} }));
  return { configPath, remove };
}

const page = (path, headers = {}) => send(origin, { method: "GET", path, headers });
const lines = () =>
  harness
    .getLogs()
    .map(({ message }) => message)
    .filter((message) => message.startsWith("{"))
    .map((message) => JSON.parse(message));
const rows = async () =>
  (await db.prepare("SELECT id, quantities FROM transactions ORDER BY id").all()).results;
const count = async () => (await rows()).length;

/** Delivers queue messages. Returns the outcome of each: `acked`, or the seconds until its retry. */
async function take(bodies, headers = {}) {
  const { status, text } = await send(origin, {
    method: "POST",
    path: "/batch",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(bodies),
  });
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

/** Creates a record as the service writes it. Returns the record and its ledger message. */
async function created(pledges = [{ impact: { amount: 3, offeringId: "tree" } }]) {
  const service = harness.getWorker("impact-pledge");
  const order = {
    reference: `order-${Math.random()}`,
    recipient: { email: "ada@example.org" },
    pledges,
  };
  const answer = await service.fetch(`https://service.example${PATH}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  const { id } = await answer.json();
  assert.equal(answer.status, 200);
  const { metadata } = await kv.getWithMetadata(`transaction:${id}`);
  const { mode, unit, summary } = metadata;
  return { id, mode, unit, summary };
}

/** Returns a ledger message for which no record exists. */
const message = (number, more = {}) => ({
  id: `ptran_${String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))}${"a".repeat(40)}`,
  mode: "test",
  unit: "unit_dev",
  summary: {
    createdAt: "2026-11-20T12:00:00.000Z",
    amount: "1.50",
    currencyCode: "USD",
    key: "0123456789ab",
    quantities: [["tree", 3_000_000]],
    ...more,
  },
});

// ---- Messages ------------------------------------------------------------------------------------

test("a create becomes a row through the queue", async () => {
  const began = Date.now();
  const { id } = await created();
  await until(async () => (await count()) > 0);
  assert.deepEqual(await rows(), [{ id, quantities: '[["tree",3000000]]' }]);
  await until(() => lines().some(({ ledger }) => ledger === "receive"));
  const { ledger } = JSON.parse((await page("/healthz")).text);
  const received = Date.parse(ledger.received);
  assert.ok(received >= began && ledger.lagMs <= received - began, JSON.stringify(ledger));
  assert.ok(ledger.bytes > 10_000);
});

test("messages are delivered twice, late, and among invalid ones", async () => {
  const messages = [1, 2, 3].map((number) => message(number));
  const odd = [null, 7, "text", {}, { id: "ptran_a" }, { ...message(4), mode: "odd" }, []];
  const verdicts = await take([messages[0], ...odd, messages[1], messages[0], messages[2]]);
  assert.deepEqual(verdicts, Array(11).fill("acked"));
  assert.deepEqual(await take(messages), Array(3).fill("acked"));
  assert.equal(await count(), 3);
});

test("a message that the database refused stops no other, and is named", async () => {
  const late = "9999-12-31T23:59:59.999Z";
  await db
    .prepare(
      "CREATE TRIGGER odd BEFORE INSERT ON transactions WHEN NEW.unpriced = 7 BEGIN SELECT RAISE(ABORT, 'odd'); END",
    )
    .run();
  const bodies = [1, 2, 3, 4, 5].map((number) =>
    message(number, { createdAt: late, unpriced: number === 3 ? 7 : 0 }),
  );
  assert.deepEqual(await take(bodies), Array(5).fill("acked"));
  await db.prepare("DROP TRIGGER odd").run();
  assert.equal(await count(), 4);
  const { results } = await db.prepare("SELECT kind, name, detail FROM findings").all();
  assert.deepEqual(results, [{ kind: "refused", name: bodies[2].id, detail: "odd" }]);
  assert.match((await page("/system")).text, /The database rejected the row/);
});

test("a message without quantities is read from its record, whatever its size", async () => {
  const pledges = Array.from({ length: 8_000 }, (_, at) => ({
    impact: { amount: 1, offeringId: `offering-${"x".repeat(40)}-${at}` },
  }));
  const { summary, ...large } = await created(pledges);
  assert.equal(summary.quantities, undefined);
  await until(async () => (await count()) > 0);
  await db.prepare("DELETE FROM transactions").run();
  const hidden = { ...message(2), summary: { ...message(2).summary, quantities: undefined } };
  const bodies = [message(1), { ...large, summary }, hidden];
  assert.deepEqual(await take(bodies), ["acked", "acked", 10], "one is not shown by KV yet");
  assert.equal(await count(), 2);
  const [{ quantities }] = (await rows()).filter(({ id }) => id === large.id);
  assert.equal(JSON.parse(quantities).length, 8_000);
});

test("a batch of 100 messages of 100 KB becomes rows part by part", async () => {
  const quantities = Array.from({ length: 1_500 }, (_, at) => [
    `offering-${"x".repeat(40)}-${at}`,
    1_000_000,
  ]);
  const bodies = Array.from({ length: 100 }, (_, at) => message(at, { quantities }));
  assert.ok(JSON.stringify(bodies[0]).length > 95_000);
  assert.deepEqual(await take(bodies), Array(100).fill("acked"));
  assert.equal(await count(), 100);
});

test("a message that breaks the instance loses no other message: all are retried, and the next instance handles them", async () => {
  const bodies = [message(1), "poison", message(2)];
  assert.deepEqual(await take(bodies), [60, 60, 60]);
  assert.equal(await count(), 0);
  assert.deepEqual(await take([bodies[0], bodies[2]]), ["acked", "acked"]);
  assert.equal((await page("/units")).status, 200);
});

// ---- A database that fails -----------------------------------------------------------------------

for (const [d1, calls] of [
  ["throws", 3],
  ["hangs", 1],
  ["is overloaded", 3],
  ["is busy thrice", 3],
  ["loses all answers", 3],
  ["has no tables", 1],
  ["answers nothing", 1],
  ["answers null", 1],
])
  test(`D1 ${d1}: messages are retried, and nothing is lost`, async () => {
    const bodies = [1, 2].map((number) => message(number));
    assert.deepEqual(await take(bodies, { "x-d1": d1, ...FAST }), [10, 10]);
    assert.equal(lines().filter((line) => line.d1 === d1).length, calls);
    const secrets = ["ptran_", "unit_dev", "tree"];
    for (const line of lines().map((line) => JSON.stringify(line)))
      for (const secret of secrets) assert.ok(!line.includes(secret), line);
    assert.ok(lines().some((line) => line.ledger === "receive" && line.again === 2));
    assert.deepEqual(await take(bodies), ["acked", "acked"]);
    assert.equal(await count(), 2);
  });

for (const d1 of ["is busy twice", "loses an answer"])
  test(`D1 ${d1}: it is retried at once`, async () => {
    assert.deepEqual(await take([message(1)], { "x-d1": d1, ...FAST }), ["acked"]);
    assert.equal(await count(), 1);
  });

test("of many batches at once some wait for a few seconds, so that the memory is bounded", async () => {
  const slow = { "x-d1": "hangs", ...FAST };
  const verdicts = await Promise.all([1, 2, 3].map((number) => take([message(number)], slow)));
  assert.deepEqual(verdicts.flat().sort(), [10, 10, 5]);
  assert.deepEqual(await take([message(1)]), ["acked"], "they left room");
});

test("without a database messages are retried until there is one", async () => {
  assert.deepEqual(await take([message(1)], { "x-d1": "is not there" }), [3_600]);
  assert.ok(lines().some(({ cause }) => cause === "no database is bound as LEDGER_DB"));
});

for (const d1 of ["hangs", "throws", "has no tables", "answers numbers", "is not there"])
  test(`D1 ${d1}: pages that need no ledger work, and the others show what is wrong`, async () => {
    const asked = { "x-d1": d1, ...FAST };
    for (const path of ["/units", "/prices", "/system"])
      assert.equal((await page(path, asked)).status, 200, path);
    const { status, text } = await page("/healthz", asked);
    assert.equal(status, 503);
    assert.match(JSON.parse(text).problem, /ledger|LEDGER_DB/);
  });

test("a monitor needs no sign-in", async () => {
  await send(origin, { method: "GET", path: "/cron" });
  const { status, text } = await page("/healthz", { "x-access": "knows a service token" });
  assert.equal(status, 200, text);
  assert.equal(JSON.parse(text).problem, undefined);
  assert.equal((await page("/healthz", { "x-access": "is not there" })).status, 403);
});

// ---- The cron ------------------------------------------------------------------------------------

test("the cron queues an e-mail for each buyer who asked, once an update was published", async () => {
  const hash = createHash("sha256").update("tree").digest("hex").slice(0, 16);
  for (const [letter, offerings] of Object.entries({ a: [hash], e: ["0".repeat(16)], i: [] }))
    await kv.put(`news:2026-01:ptran_${letter.repeat(42)}`, "{}", {
      metadata: { createdAt: "2026-01-02T03:04:05.678Z", offerings },
    });
  const texts = { en: "Planted." };
  const content = JSON.stringify({ id: "upd_1", stage: "done", date: "2026-01-02", texts });
  await db.batch([
    db
      .prepare(
        "INSERT INTO updates VALUES ('upd_1', 'live', '2026-01', 'tree', 'draft', '2026-01-02', ?1, NULL, 1, '', '', 0, '', 0)",
      )
      .bind(content),
    db.prepare("UPDATE updates SET state = 'published', revision = 2 WHERE id = 'upd_1'"),
  ]);
  await dashboard.scheduled();
  assert.deepEqual(
    lines().find(({ news }) => news),
    { news: "queue", listed: 3, queued: 1 },
  );
  const { due, again } = await db.prepare("SELECT due, again FROM news").first();
  assert.ok(due > Date.now() && again === 0, "once more in the next month");
  assert.match((await kv.list({ prefix: "updates:live:" })).keys[0].name, new RegExp(hash));
  harness.clearLogs();
  await dashboard.scheduled();
  assert.equal(
    lines().find(({ news }) => news),
    undefined,
  );
});

test("the cron finds transactions whose messages were lost", async () => {
  const { id } = await created();
  await until(async () => (await count()) > 0);
  await db.prepare("DELETE FROM transactions").run();
  await kv.put(`ledger-unsent:${id}`, "{}");
  await dashboard.scheduled();
  assert.equal(await count(), 1);
  assert.equal((await kv.list({ prefix: "ledger-unsent:" })).keys.length, 0);
  const done = lines().find(({ ledger }) => ledger === "reconcile");
  assert.deepEqual(
    { ...done, ms: 0 },
    { ledger: "reconcile", reached: "complete", unsent: 1, listed: 1, mended: 0, days: 0, ms: 0 },
  );
});

test("the cron stores the sums of ended days", async () => {
  await created();
  await until(async () => (await count()) > 0);
  await dashboard.scheduled();
  await db.prepare("UPDATE transactions SET created = created - 3 * 86400000").run();
  await dashboard.scheduled();
  const { days } = lines().findLast(({ ledger }) => ledger === "reconcile");
  const stored = async () => (await db.prepare("SELECT sums FROM day_quantities").all()).results;
  const rows = await stored();
  assert.equal(rows.length, 2 * days);
  const [own, ...others] = rows.filter(({ sums }) => sums !== "[]");
  assert.match(own.sums, /^\[\["[^"]+",1,\d+,\d+\]/);
  assert.equal(others.length, 0);
  await db.prepare("UPDATE transactions SET quantities = '[]'").run();
  assert.equal((await stored()).length, 2 * (days - 1));
});

/** The e-mail waits for today and for tomorrow, in case a day ends meanwhile. */
test("the cron sends the e-mails to people by the mail service that is bound", async () => {
  const { id } = await created();
  await kv.put(`mail-failed:${new Date().toISOString().slice(0, 10)}:${id}`, "");
  const marker = { state: "failed", reason: null, round: 1, at: new Date(), attempts: 1 };
  await kv.put(`notification:${id}`, JSON.stringify(marker));
  const days = [0, 1].map((day) => new Date(Date.now() + day * 86_400_000));
  const wait = db.prepare(
    "INSERT INTO notices (address, kind, period, state, at, due) VALUES (?1, 'failures', ?2, 'waiting', ?3, 0)",
  );
  const fill = () =>
    db.batch([
      db.prepare("DELETE FROM notices"),
      ...days.map((day) => wait.bind(OPERATOR, day.toISOString().slice(0, 10), Date.now())),
    ]);
  const state = async () =>
    (
      await db
        .prepare("SELECT state, cause FROM notices WHERE state <> 'waiting' AND kind = 'failures'")
        .all()
    ).results;
  const run = (headers) => send(origin, { method: "GET", path: "/cron", headers });
  const mails = () => lines().filter(({ mail }) => mail?.subject.includes("failed"));

  await fill();
  await run({});
  assert.deepEqual([mails(), await state()], [[], []], "no mail service is bound");

  await run({ "x-mail": "E_INTERNAL_SERVER_ERROR" });
  assert.deepEqual(await state(), [{ state: "failed", cause: "E_INTERNAL_SERVER_ERROR" }]);
  assert.equal(mails().length, 1);

  await fill();
  await run({ "x-mail": "sends" });
  await run({ "x-mail": "sends" });
  assert.deepEqual(await state(), [{ state: "sent", cause: null }]);
  assert.equal(mails().length, 2);
  const { mail } = mails()[1];
  assert.equal(mail.to, OPERATOR);
  assert.deepEqual(mail.from, { name: "Impact Pledge", email: VARS.MAIL_FROM });
  assert.deepEqual(mail.headers, {
    "Auto-Submitted": "auto-generated",
    "List-Unsubscribe": "<https://dashboard.example/notices>",
  });
  assert.match(mail.text, /1 e-mail or message to buyers failed/);
  assert.match(mail.html, /<a href="https:\/\/dashboard\.example\/mails">/);
  assert.ok(lines().some(({ notices, sent }) => notices === "send" && sent >= 1));
});

test("a cron logs that D1 fails, and the next one continues", async () => {
  const { status } = await send(origin, {
    method: "GET",
    path: "/cron",
    headers: { "x-d1": "is overloaded", ...FAST },
  });
  assert.equal(status, 200);
  assert.ok(lines().some(({ ledger, cause }) => ledger === "reconcile" && cause === "no answer"));
  await send(origin, { method: "GET", path: "/cron" });
  assert.ok(lines().some(({ reached }) => reached === "complete"));
});

test("of the crons of two isolates, only one runs the reconciliation pass", async () => {
  const metadata = (number) => {
    const { id: _, ...rest } = message(number);
    return { ...rest, bytes: 100 };
  };
  const ids = Array.from({ length: 120 }, (_, at) => at);
  await Promise.all(
    ids.map((at) => kv.put(`transaction:${message(at).id}`, "{}", { metadata: metadata(at) })),
  );
  const cron = (worker) => worker.scheduled({ cron: "*/5 * * * *", scheduledTime: new Date() });
  const second = harness.getWorker("second");
  await Promise.all([dashboard.scheduled(), cron(second), dashboard.scheduled(), cron(second)]);
  const reached = lines().flatMap((line) =>
    line.ledger === "reconcile" ? [line.reached ?? line.cause] : [],
  );
  assert.equal(reached.length, 4);
  assert.equal(reached.filter((it) => it === "complete").length, 1, reached);
  assert.equal(await count(), 120);
});
