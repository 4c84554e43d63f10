/**
 * Tests behaviour that only the running Worker shows: its log, its rate limit for refused keys, and large
 * bodies.
 */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { until } from "../support/until.mjs";
import { create, get, send, startWorker } from "./worker.mjs";

const KEY = "service_sk_test_dev_unit";
const LIMIT = 100; // of wrangler.toml
const CANARY = "canary";
const HEADERS = {
  "idempotency-key": CANARY,
  cookie: CANARY,
  "user-agent": CANARY,
  referer: `https://${CANARY}.example/`,
  "x-canary": CANARY,
  "cf-ray": CANARY,
};
const ORDER = {
  reference: CANARY,
  recipient: { email: `${CANARY}@example.org`, firstName: CANARY },
  pledges: [{ impact: { amount: 1, offeringId: CANARY }, detail: { name: CANARY } }],
};

/** @type {import("./worker.mjs").Worker} */
let worker;
before(async () => (worker = await startWorker()));
after(() => worker?.close());

const messagesOf = () => worker.logs().map(({ message }) => message);
/** Returns the log lines of requests. */
const linesOf = () =>
  messagesOf()
    .filter((text) => text.startsWith("{"))
    .map((text) => JSON.parse(text))
    .filter(({ request }) => request);

test("a line for each answer, with its ID, and nothing of the caller's", async () => {
  const created = await create(worker.origin, KEY, ORDER, HEADERS);
  const { id, timelineUrl } = JSON.parse(created.text);
  const asked = (method, path) =>
    send(worker.origin, { method, path, headers: { authorization: `Bearer ${CANARY}` } });
  const CREATE = "POST /v2/pledge-transaction";
  const GET = "GET /v2/pledge-transaction/{id}";
  const TIMELINE = "GET /timeline/{id}";
  const answers = [
    [CREATE, created],
    [CREATE, await create(worker.origin, KEY, { ...ORDER, canary: 1 }, HEADERS)],
    [CREATE, await create(worker.origin, `${CANARY}1`, ORDER, HEADERS)],
    [GET, await get(worker.origin, KEY, id)],
    [GET, await get(worker.origin, KEY, CANARY)],
    [TIMELINE, await asked("GET", timelineUrl.slice(worker.origin.length))],
    [TIMELINE, await asked("GET", `/timeline/${id}?edit_key=${CANARY}`)],
    ["none", await asked("GET", `/${CANARY}?${CANARY}=${CANARY}`)],
    ["none", await asked("PUT", "/v2/pledge-transaction")],
    ["GET /healthz", await asked("GET", `/healthz?${CANARY}`)],
  ];
  await until(() => linesOf().length >= answers.length); // a log line may come after its answer
  const messages = messagesOf();
  for (const secret of [CANARY, timelineUrl.split("edit_key=")[1]])
    assert.deepEqual(
      messages.filter((message) => message.includes(secret)),
      [],
    );
  const lines = linesOf();
  for (const [route, answer] of answers) {
    const { status, headers } = answer;
    const line = lines.find(({ request }) => request === headers["x-request-id"]);
    assert.deepEqual([line?.route, line?.status], [route, status]);
    assert.equal(line.transaction, answer === created ? id : undefined);
    assert.ok(Number.isInteger(line.ms) && Number.isInteger(line.kvMs) && line.version);
  }
  assert.equal(lines.length, answers.length);
});

test("a request has the ID of the platform if that looks like one, else a random one", async () => {
  const idOf = async (ray) => {
    const asked = { method: "GET", path: "/healthz", headers: { "cf-ray": ray } };
    return (await send(worker.origin, asked)).headers["x-request-id"];
  };
  assert.equal(await idOf("8c2f9d3b1a2b4c5d-FRA"), "8c2f9d3b1a2b4c5d-FRA");
  const others = [
    "",
    "8c2f9d3b1a2b4c5d",
    "8c2f9d3b1a2b4c5-FRA",
    "8c2f9d3b1a2b4c5d6-FRA",
    "8c2f9d3b1a2b4c5g-FRA",
    "8c2f9d3b1a2b4c5d-FR",
    "8c2f9d3b1a2b4c5d-FRAN",
    "8c2f9d3b1a2b4c5d-F1A",
    "8c2f9d3b1a2b4c5d-FRA-FRA",
    "8c2f9d3b1a2b4c5d_FRA",
    "8c2f9d3b1a2b4c5d-FRA, 8c2f9d3b1a2b4c5d-FRA",
    '"-FRA',
  ];
  const ids = await Promise.all(others.map(idOf));
  for (const [index, id] of ids.entries())
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, others[index]);
  assert.equal(new Set(ids).size, others.length);
});

test("beyond the limit a network's keys are refused unread, with 429; others are served", async () => {
  const from = (address, key) => create(worker.origin, key, ORDER, { "cf-connecting-ip": address });
  assert.equal((await from("203.0.113.7", KEY)).status, 200);
  const answers = [];
  for (let number = 0; number < 3 * LIMIT; number++)
    answers.push(await from("203.0.113.7", `service_sk_test_guess_${number}`));
  const statuses = answers.map(({ status }) => status);
  const refused = statuses.filter((status) => status === 401).length;
  assert.ok(refused >= LIMIT && refused <= 2 * LIMIT, `${refused}`); // a minute may end during the test
  assert.deepEqual([statuses[0], ...new Set(statuses)], [401, 401, 429]);
  const { headers, text } = answers.at(-1);
  assert.equal(headers["retry-after"], "60");
  assert.deepEqual(Object.keys(JSON.parse(text)), ["error", "message"]);
  assert.equal((await from("203.0.113.7", KEY)).status, 200, "a key that is known by now");
  assert.equal((await from("203.0.113.8", "another")).status, 401, "another network");
  const isLogged = ({ message }) =>
    message.includes('"status":429') && message.includes('"cause":"too-many-refused-keys"');
  assert.ok(worker.logs().some(isLogged));
});

const LARGE = Buffer.alloc(30_000_000, " ");
const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const large = (asked = {}) => ({
  method: "POST",
  path: "/v2/pledge-transaction",
  headers,
  body: LARGE,
  ...asked,
});

test("a body of 30 MB gets an answer, and the service keeps serving", async (t) => {
  for (const [name, status, request] of [
    ["announced", 413, large()],
    ["in pieces", 413, large({ chunked: true })],
    ["without a key", 401, large({ headers: { "content-type": "application/json" } })],
    ["to an unknown path", 404, large({ path: "/v2/nothing" })],
    ["with PUT", 405, large({ method: "PUT" })],
    ["that are no JSON", 415, large({ headers: { ...headers, "content-type": "text/plain" } })],
  ])
    await t.test(`${name}: ${status}`, async () => {
      const answer = await send(worker.origin, request);
      assert.equal(answer.status, status, answer.text);
      assert.ok(JSON.parse(answer.text).error && answer.text.length < 10_000);
      assert.equal((await create(worker.origin, KEY, ORDER)).status, 200);
    });
  const bad = worker.logs().filter(({ message }) => /panic|"kv":|"status":5/.test(message));
  assert.deepEqual(bad, []);
});
