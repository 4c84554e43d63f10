/**
 * Tests messages through messaging services: what the Worker sends to an adapter, which is a real HTTP
 * server, and what the adapter's answers cause.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import test, { after, before } from "node:test";
import { Webhook } from "standardwebhooks";
import { create, get, send } from "../e2e/worker.mjs";
import { until } from "../support/until.mjs";
import { startWorkerd } from "./workerd.mjs";

const KEY = "service_sk_live_dev_unit";
const SERVICES = ["MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];
const SHOP = { name: "Small Hours Coffee", mail: true, messagingServices: SERVICES };
const ORDER = {
  reference: "canary-order",
  recipient: { email: "ada@example.org", name: "Ada Canary" },
  pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
};
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
/**
 * Settings for three messaging services: the adapter of service A is a service binding, the adapter of
 * service B has a URL, and service C has no adapter.
 */
const DOORS = {
  bound: ["MESSAGING_SERVICE_A"],
  variables: {
    MESSAGING_SERVICE_A_SECRET: `${SECRET} ${OLD}`,
    MESSAGING_SERVICE_B_URL: "https://adapter.example/hook?of=b",
    MESSAGING_SERVICE_B_SECRET: SECRET,
  },
};
/** Makes timers run ten times as fast. */
const FAST = { "x-speed": "10" };
/**
 * A time after which another attempt may deliver the message, in milliseconds. By then, the claim by which an
 * earlier attempt had reserved the message has expired.
 */
const PAST_A_CLAIM_MS = 61_000;
const SOON = { retry: { delaySeconds: 60 } };
const DONE = { ack: true };

/** The adapter's handler for its next requests. Tests replace it. */
let answer = (response) => void response.writeHead(204).end();
/** The requests that the adapter got since the last call of {@link taken}. */
const got = [];
const taken = () => got.splice(0);

const adapter = createServer(async (request, response) => {
  const body = await buffer(request);
  const { method, url, headers } = request;
  got.push({ method, url, headers, body: body.toString(), at: Date.now() });
  answer(response);
});

let server, close;
before(async () => {
  await new Promise((resolve) => adapter.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (adapter.address());
  const options = { adapter: `127.0.0.1:${port}` };
  ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs", options));
  await server.seed([{ key: "profile:unit_dev", value: JSON.stringify(SHOP) }]);
});
after(async () => {
  await close?.();
  adapter.closeAllConnections();
  adapter.close();
});

/**
 * The number of transactions so far. Each transaction has a different recipient, because a person gets at most
 * five messages a day.
 */
let orders = 0;
async function created(notifications = ["MessagingServiceA"], standIn = "no queue", more = {}) {
  const recipient = { ...ORDER.recipient, email: `ada@${++orders}.example` };
  const headers = { "x-stand-in": standIn, ...more };
  const body = { ...ORDER, recipient, notifications };
  const { status, text } = await create(server.origin, KEY, body, headers);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

/** Delivers a message, and returns its outcome. */
async function deliver({ id, createdAt }, service, { standIn = "", headers = {}, ...more } = {}) {
  const queue = "impact-pledge-notifications";
  const body = { id, createdAt, round: 1, service };
  const { status, text } = await send(server.origin, {
    method: "POST",
    path: "/delivery",
    headers: { "x-stand-in": standIn, ...headers },
    body: JSON.stringify({ queue, body, attempts: 1, ...DOORS, ...more }),
  });
  assert.equal(status, 200, server.output);
  return JSON.parse(text);
}

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

const marker = async ({ id }, service) => (await record(`notification:${id}:${service}`))?.value;
const queued = async () =>
  JSON.parse((await send(server.origin, { method: "GET", path: "/taken" })).text);

// ---- Into the queue ------------------------------------------------------------------------------

test("a create that asks for three services puts three messages into the queue, and answers Pending", async () => {
  const asked = ["MessagingServiceB", "Email", "MessagingServiceA"];
  const transaction = await created(asked, "the queue works");
  const { id, createdAt, notifications } = transaction;
  const messages = (await queued()).map(({ message }) => message);
  assert.deepEqual(messages, [
    { id, createdAt, round: 1, service: "Email" },
    { id, createdAt, round: 1, service: "MessagingServiceA" },
    { id, createdAt, round: 1, service: "MessagingServiceB" },
  ]);
  const pending = asked.map((type) => ({ type, status: "Pending" }));
  assert.deepEqual(notifications, pending);
  assert.deepEqual(
    await Promise.all(
      ["MessagingServiceA", "MessagingServiceB"].map((it) => deliver(transaction, it)),
    ),
    [DONE, DONE],
  );
  taken();
  assert.deepEqual(JSON.parse((await get(server.origin, KEY, id)).text).notifications, pending);
});

test("a queue that hangs delays a create of three services once, and each is listed as failed", async () => {
  let log = "";
  server.child.stdout.on("data", (text) => (log += text));
  const { id, createdAt } = await created(
    ["Email", ...SERVICES.slice(0, 2)],
    "the queue hangs",
    FAST,
  );
  const waits = () => [...log.matchAll(/^\{"(timer|rings)":2000\}$/gm)].map(([, what]) => what);
  await until(() => waits().length === 6);
  const [begun, ended] = ["timer", "rings"].map((what) => Array(3).fill(what));
  assert.deepEqual(waits(), [...begun, ...ended], "all begin before the first ends");
  const { summary } = (await record(`transaction:${id}`)).metadata;
  assert.deepEqual([summary.mail, summary.unsent], ["unsent", "AB"]);
  for (const service of ["", ":MessagingServiceA", ":MessagingServiceB"])
    assert.ok(await record(`mail-failed:${createdAt.slice(0, 10)}:${id}${service}`), service);
});

// ---- To the adapter ------------------------------------------------------------------------------

test("an adapter that is bound, one by URL, and none", async () => {
  const transaction = await created(SERVICES);
  const { id, timelineUrl } = transaction;
  for (const service of SERVICES) assert.deepEqual(await deliver(transaction, service), DONE);
  const [a, b, ...rest] = taken();
  assert.deepEqual(rest, []);
  for (const [request, service, url, host, secrets] of [
    [a, "MessagingServiceA", "/", "messaging-service-a.internal", [SECRET, OLD]],
    [b, "MessagingServiceB", "/hook?of=b", "adapter.example", [SECRET]],
  ]) {
    const { headers, body } = request;
    assert.deepEqual([request.method, request.url, headers.host], ["POST", url, host]);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["webhook-id"], `${id}_${service}_1`);
    assert.ok(Math.abs(headers["webhook-timestamp"] * 1_000 - request.at) < 5_000);
    const message = JSON.parse(body);
    for (const secret of secrets)
      assert.deepEqual(new Webhook(secret).verify(body, headers), message);
    assert.throws(() => new Webhook(SECRET).verify(`${body} `, headers));
    const late = { ...headers, "webhook-timestamp": `${headers["webhook-timestamp"] - 1}` };
    assert.throws(() => new Webhook(SECRET).verify(body, late));
    assert.equal(headers["webhook-signature"].split(" ").length, secrets.length);
    const { title, text, timelineUrl: url_, ...facts } = message;
    assert.deepEqual(facts, {
      service,
      transactionId: id,
      isLive: true,
      recipient: { email: `ada@${orders}.example`, firstName: null, name: "Ada Canary" },
      unit: { id: "unit_dev", name: "Small Hours Coffee" },
      language: "en",
    });
    assert.match(title, /^Small Hours Coffee has pledged/);
    assert.ok(text.includes(title) && text.includes(url_), text);
    assert.equal(new URL(url_).search, new URL(timelineUrl).search);
    assert.equal(new URL(url_).origin, "https://pledges.example");
    assert.equal((await marker(transaction, service)).state, "sent");
  }
  const { state, reason } = await marker(transaction, "MessagingServiceC");
  assert.deepEqual([state, reason], ["skipped", "not-attached"]);
});

for (const [problem, doors] of Object.entries({
  "a URL without a secret": { MESSAGING_SERVICE_A_URL: "https://adapter.example/" },
  "a secret that is none": {
    MESSAGING_SERVICE_A_URL: "https://adapter.example/",
    MESSAGING_SERVICE_A_SECRET: "secret",
  },
  "a URL without https": {
    MESSAGING_SERVICE_A_URL: "http://adapter.example/",
    MESSAGING_SERVICE_A_SECRET: SECRET,
  },
}))
  test(`${problem} attaches nothing, and the message is tried again`, async () => {
    const transaction = await created();
    const more = { bound: [], variables: doors };
    assert.deepEqual(await deliver(transaction, "MessagingServiceA", more), SOON);
    assert.deepEqual(taken(), []);
    assert.equal(await marker(transaction, "MessagingServiceA"), undefined);
  });

test("an adapter that is bound may go without a secret", async () => {
  const transaction = await created();
  const more = { variables: {} };
  assert.deepEqual(await deliver(transaction, "MessagingServiceA", more), DONE);
  const [{ headers }] = taken();
  assert.equal(headers["webhook-signature"], undefined);
  assert.equal(headers["webhook-id"], `${transaction.id}_MessagingServiceA_1`);
});

// ---- Answers -------------------------------------------------------------------------------------

/**
 * For each behaviour of the adapter: its answer, the outcome of the message, and the state and the reason that are
 * stored for the message.
 */
const ANSWERS = {
  "is down": [(response) => void response.writeHead(503).end(), SOON],
  "asks to wait": [
    (response) => void response.writeHead(429, { "retry-after": "7200" }).end(),
    { retry: { delaySeconds: 7_200 } },
  ],
  "asks to wait for a year": [
    (response) => void response.writeHead(503, { "retry-after": "31536000" }).end(),
    { retry: { delaySeconds: 43_200 } },
  ],
  "hangs up": [(response) => void response.socket.destroy(), SOON],
  hangs: [() => {}, SOON],
  "is configured wrongly": [(response) => void response.writeHead(404).end(), SOON],
  redirects: [
    (response) => void response.writeHead(307, { location: "https://elsewhere.example/" }).end(),
    DONE,
    "failed",
    "status-307",
  ],
  "has no such user": [
    (response) => void response.writeHead(422).end(),
    DONE,
    "failed",
    "status-422",
  ],
  "is gone": [
    (response) => void response.writeHead(410).end("ada@example.org"),
    DONE,
    "failed",
    "status-410",
  ],
};

for (const [name, [answers, outcome, state, reason]] of Object.entries(ANSWERS))
  for (const service of ["MessagingServiceA", "MessagingServiceB"])
    test(`an adapter of ${service} that ${name}`, async () => {
      const transaction = await created([service]);
      answer = answers;
      assert.deepEqual(await deliver(transaction, service, { headers: FAST }), outcome);
      assert.equal(taken().length, 1);
      const kept = await marker(transaction, service);
      assert.deepEqual([kept?.state, kept?.reason], [state, reason]);
      assert.doesNotMatch(JSON.stringify(kept ?? {}), /ada@|elsewhere/);
    });

test("an adapter that was down gets the message again, with the same ID and a new signature", async () => {
  const transaction = await created(["MessagingServiceB"]);
  answer = ANSWERS["is down"][0];
  const attempt = (attempts) =>
    deliver(transaction, "MessagingServiceB", {
      attempts,
      after: (attempts - 1) * PAST_A_CLAIM_MS,
    });
  assert.deepEqual(await attempt(1), SOON);
  assert.deepEqual(await attempt(2), { retry: { delaySeconds: 300 } });
  answer = (response) => void response.writeHead(200).end("ok");
  assert.deepEqual(await attempt(3), DONE);
  const requests = taken();
  assert.equal(new Set(requests.map(({ headers }) => headers["webhook-id"])).size, 1);
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
  for (const { headers, body } of requests) new Webhook(SECRET).verify(body, headers);
  assert.deepEqual(await attempt(4), DONE);
  assert.deepEqual(taken(), [], "it was sent before");
});

test("an adapter that asks to wait for a second gets the message again within the delivery", async () => {
  const transaction = await created();
  const answers = [429, 204];
  answer = (response) => void response.writeHead(answers.shift(), { "retry-after": "1" }).end();
  assert.deepEqual(await deliver(transaction, "MessagingServiceA"), DONE);
  assert.equal(taken().length, 2);
});

for (const status of [200, 500])
  test(`an answer with status ${status} that never ends is not read`, async () => {
    const transaction = await created(["MessagingServiceB"]);
    let bytes = 0;
    const ended = new Promise((resolve) => {
      answer = (response) => {
        response.writeHead(status);
        response.on("close", resolve);
        const chunk = Buffer.alloc(65_536, 32);
        const write = () =>
          response.write(chunk, (error) => {
            if (error || response.destroyed) return;
            bytes += chunk.length;
            setImmediate(write);
          });
        write();
      };
    });
    const outcome = await deliver(transaction, "MessagingServiceB");
    assert.deepEqual(outcome, status === 200 ? DONE : SOON);
    await ended; // the Worker has closed the connection
    assert.ok(bytes < 64 * 1024 * 1024, `${bytes} bytes`);
    taken();
  });

for (const [standIn, outcome, count] of /** @type {const} */ ([
  ["the adapter is none", SOON, 0],
  ["the adapter answers nothing", SOON, 0],
  ["the adapter answers no response", SOON, 0],
]))
  test(standIn, async () => {
    const transaction = await created();
    assert.deepEqual(await deliver(transaction, "MessagingServiceA", { standIn }), outcome);
    assert.equal(taken().length, count);
    assert.equal(await marker(transaction, "MessagingServiceA"), undefined);
  });

// ---- A broken instance ---------------------------------------------------------------------------

test("a message that the adapter has accepted when its instance breaks is sent once, and marked", async () => {
  const transaction = await created();
  answer = (response) => void response.writeHead(202).end();
  const standIn = "the instance breaks while the adapter answers";
  assert.deepEqual(await deliver(transaction, "MessagingServiceA", { standIn }), DONE);
  assert.equal((await marker(transaction, "MessagingServiceA")).state, "sent");
  assert.deepEqual(await deliver(transaction, "MessagingServiceA"), DONE);
  assert.equal(taken().length, 1);
});

test("no address, name, edit key or secret is in a log line", () => {
  assert.doesNotMatch(server.output, /ada@|canary|edit_key|coffee|whsec/i);
});
