/**
 * The logs of the running Worker: a line of JSON for each answer, without any content of the
 * request.
 */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { create, get, send, startWorker } from "./worker.mjs";

const KEY = "service_sk_test_dev_unit";
const CANARY = "canary";
const HEADERS = {
  "idempotency-key": CANARY,
  cookie: CANARY,
  "user-agent": CANARY,
  referer: `https://${CANARY}.example/`,
  "x-canary": CANARY,
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

test("a line for each answer, with its ID, and nothing of the caller's", async () => {
  const created = await create(worker.origin, KEY, ORDER, HEADERS);
  const { id, timelineUrl } = JSON.parse(created.text);
  const authorization = { authorization: `Bearer ${CANARY}` };
  const answers = [
    ["POST /v2/pledge-transaction", created],
    [
      "POST /v2/pledge-transaction",
      await create(worker.origin, KEY, { ...ORDER, canary: 1 }, HEADERS),
    ],
    ["POST /v2/pledge-transaction", await create(worker.origin, `${CANARY}1`, ORDER, HEADERS)],
    ["GET /v2/pledge-transaction/{id}", await get(worker.origin, KEY, id)],
    ["GET /v2/pledge-transaction/{id}", await get(worker.origin, KEY, CANARY)],
    [
      "GET /timeline/{id}",
      await send(worker.origin, {
        method: "GET",
        path: timelineUrl.slice(worker.origin.length),
        headers: HEADERS,
      }),
    ],
    [
      "GET /timeline/{id}",
      await send(worker.origin, {
        method: "GET",
        path: `/timeline/${id}?edit_key=${CANARY}`,
        headers: authorization,
      }),
    ],
    [
      "none",
      await send(worker.origin, {
        method: "GET",
        path: `/${CANARY}?${CANARY}=${CANARY}`,
        headers: authorization,
      }),
    ],
    [
      "none",
      await send(worker.origin, {
        method: "PUT",
        path: "/v2/pledge-transaction",
        body: CANARY,
        headers: authorization,
      }),
    ],
    [
      "GET /healthz",
      await send(worker.origin, {
        method: "GET",
        path: `/healthz?${CANARY}`,
        headers: authorization,
      }),
    ],
  ];
  const secrets = [CANARY, id, timelineUrl.split("edit_key=")[1]];
  const messages = worker.logs().map(({ message }) => message);
  for (const secret of secrets)
    assert.deepEqual(
      messages.filter((message) => message.includes(secret)),
      [],
    );
  const lines = messages
    .filter((message) => message.startsWith("{"))
    .map((message) => JSON.parse(message));
  for (const [route, { status, headers }] of answers) {
    const line = lines.find(({ request }) => request === headers["x-request-id"]);
    assert.ok(line, `${route} ${status} has no line`);
    assert.deepEqual([line.route, line.status], [route, status]);
    assert.ok(
      Number.isInteger(line.ms) && Number.isInteger(line.kvMs) && line.version,
      JSON.stringify(line),
    );
  }
  assert.equal(lines.filter(({ request }) => request).length, answers.length);
});

test("the health of the service is known without a key", async () => {
  const { status, headers, text } = await send(worker.origin, { method: "GET", path: "/healthz" });
  assert.deepEqual(
    [status, headers["cache-control"], Object.keys(JSON.parse(text))],
    [200, "no-store", ["version"]],
  );
  assert.equal((await send(worker.origin, { method: "POST", path: "/healthz" })).status, 405);
});
