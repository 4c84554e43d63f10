/**
 * Tests `PledgeClient` of the packed package: whether a call ends with an answer, with an error, or by an
 * abort signal.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import test from "node:test";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { ofLostCreates } from "../proofs/matrix/shared/unsent.mjs";
import {
  ID,
  KEY,
  answer,
  assertError,
  broken,
  busy,
  clientOf,
  clientOn,
  coded,
  create,
  failed,
  get,
  never,
  pkg,
  project,
  refused,
  sealed,
  silent,
} from "./client.mjs";
import * as server from "./mock-server.mjs";
import { created, retrieved } from "./mock-server.mjs";

const { ApiError, ConnectionError, PledgeClient, TimeoutError } = pkg;

// ---- Answers, and none -----------------------------------------------------------------------------

test("a call returns its response besides the transaction", async () => {
  const headers = { "idempotent-replayed": "true", "x-request-id": "r-1", "x-more": "1" };
  const { client } = clientOf([
    answer(created(), { status: 201, headers }),
    answer(`\ufeff ${JSON.stringify(retrieved())}\n`),
  ]);
  const call = create(client, { idempotencyKey: "order-1" });
  const { data, response } = await call.withResponse();
  assert.equal(data, await call);
  assert.equal(response, pkg.responseOf(data));
  const { headers: shown, ...others } = response;
  assert.equal(shown.get("x-more"), "1");
  assert.deepEqual(others, {
    status: 201,
    requestId: "r-1",
    idempotencyKey: "order-1",
    idempotentReplayed: true,
    retries: 0,
  });
  assert.ok(Object.isFrozen(response));
  assert.deepEqual(Object.keys(data), Object.keys(created()));
  assert.equal(pkg.responseOf({ ...data }), undefined);
  assert.deepEqual(await get(client), retrieved());
  const refused = clientOf(busy(500), never);
  assert.equal((await failed(get(refused.client).withResponse())).status, 500);
});

test("an error as JSON has useful members, and no key, header or body", async () => {
  const body = { error: "Broken", secret: KEY };
  const headers = { "x-request-id": "r-1", "x-echo": KEY };
  const { client } = clientOf([answer(body, { status: 500, headers }), broken], never);
  const asJson = async (call) => JSON.parse(JSON.stringify(await failed(call)));
  const { message, ...others } = await asJson(create(client, { idempotencyKey: "order-1" }));
  assert.match(message, /500: Broken/);
  assert.deepEqual(others, {
    name: "ApiError",
    code: "api_error",
    status: 500,
    error: "Broken",
    requestId: "r-1",
    idempotencyKey: "order-1",
  });
  const invalid = await asJson(client.createPledgeTransaction({ pledges: Array(100).fill({}) }));
  assert.deepEqual([invalid.code, invalid.issues.length], ["invalid_request", 20]);
  assert.deepEqual(Object.keys(await asJson(get(client))), ["name", "code", "message"]);
});

test("a redirect is not followed: it would take the key along", async (t) => {
  const other = await clientOn(t, server.json(retrieved()));
  for (const status of [301, 302, 303, 307, 308]) {
    const headers = { location: `${other.baseUrl}/v2` };
    const { client } = await clientOn(t, server.text("", { status, headers }));
    const error = await failed(create(client));
    assertError(error, ApiError, "api_error", /redirect.*`baseUrl`/);
    assert.deepEqual([error.status, error.headers.get("location")], [status, headers.location]);
  }
  assert.equal(other.seen.length, 0);
});

/**
 * Errors that `fetch` throws. Each has a boolean that says whether the create request may nevertheless have
 * been recorded.
 */
const UNSENT = [
  ...["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT"].map((code) => [
    coded(code),
    false,
  ]),
  [coded("ETIMEDOUT", { syscall: "connect" }), false],
  [coded("EHOSTUNREACH", { syscall: "connect" }), false],
  [new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]), false],
  // Bun before 1.4 and Deno also throw these for a request that was received, if their `fetch` has retried it.
  [coded("ConnectionRefused"), true],
  [new Error("client error (Connect): tcp connect error: Connection refused (os error 111)"), true],
  ...["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"].map(
    (code) => [coded(code), true],
  ),
  [new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET")]), true],
];

test("a connection that fails is a ConnectionError that says whether the request was sent", async (t) => {
  for (const [cause, mayBeSent] of UNSENT) {
    const fail = () => {
      throw new TypeError("fetch failed", { cause });
    };
    const { client } = clientOf(fail, never);
    const error = await failed(create(client));
    const message = mayBeSent ? /; the transaction may have been recorded$/ : /was not sent$/;
    assertError(error, ConnectionError, "connection_failed", message);
    assert.ok(error.cause instanceof Error);
  }
  // The first request may have been recorded, however the retry ended; but not after a 429.
  for (const first of [broken, busy(503)]) {
    const { client } = clientOf([first, refused], { retryCreates: true, maxRetries: 1 });
    assert.match(
      (await failed(create(client))).message,
      /; the transaction may have been recorded$/,
    );
  }
  for (const first of [busy(429), busy(503), refused]) {
    const { client } = clientOf([first, refused], { maxRetries: 1 });
    assert.match((await failed(create(client))).message, /; the request was not sent$/);
  }
  const gone = await server.serve(server.silence);
  await gone.close();
  const alone = new PledgeClient({ apiKey: KEY, baseUrl: gone.baseUrl, ...never });
  assert.match((await failed(create(alone))).message, /was not sent$/);
  for (const cut of [server.hangUp, server.breakOff]) {
    const { client } = await clientOn(t, cut, never);
    const calls = [
      [create, /may have been recorded/],
      [get, /no response/],
    ];
    for (const [call, message] of calls)
      assertError(await failed(call(client)), ConnectionError, "connection_failed", message);
  }
});

const MAYBE = /; the transaction may have been recorded$/;
/**
 * Matches the message of an answered create request that recorded nothing: the message must not say anything
 * about recording.
 */
const NOTHING = /^(?!.*(recorded|not sent))/;

/** Answers to a create request. Each has a pattern for what the error's message says about recording. */
const ANSWERED = [
  ["a proxy's 502", [answer("<html>Bad gateway", { status: 502 })], MAYBE],
  ["a 200 of somebody else", [answer("<html>Welcome")], MAYBE],
  ["a 200 that breaks the contract", [answer({ id: 1 })], MAYBE],
  ["a proxy's 408", [answer("", { status: 408 })], MAYBE],
  ["a 404 of somebody else", [answer("<h1>404</h1>", { status: 404 })], NOTHING],
  ["a redirect", [answer("", { status: 302, headers: { location: "/" } })], NOTHING],
  ["a refusal", [answer({ error: "Invalid request" }, { status: 400 })], NOTHING],
  ["a refusal after a lost answer", [broken, answer({ error: "No" }, { status: 403 })], MAYBE],
  ["a wrong key after a lost answer", [broken, answer({ error: "true" }, { status: 401 })], MAYBE],
  ["a 500 without a word", [answer({ error: "Oops" }, { status: 500 })], MAYBE],
  ...["nothing was recorded", "the transaction may have been recorded: repeat it"].map(
    (message) => [
      message,
      [answer({ error: "Unavailable", message }, { status: 503 })],
      new RegExp(`: ${message}(?!.*recorded)`),
    ],
  ),
];

test("an answer that is no transaction says once whether one may have been recorded", async () => {
  for (const [name, answers, message] of ANSWERED) {
    const options = answers.length > 1 ? { retryCreates: true, maxRetries: 1 } : never;
    const { client } = clientOf(answers, options);
    const error = await failed(create(client));
    assert.match(error.message.replace(/; it was not retried.*/, ""), message, name);
    if (answers.length === 1)
      assert.match((await failed(get(client))).message, /^(?!.*; the transaction may)/, name);
  }
});

test("a create that was received is not reported as unsent, even if the next connection is refused", async () => {
  const { received, messages } = await ofLostCreates(PledgeClient);
  assert.deepEqual(received, ["GET", "POST"]);
  assert.match(messages[0], /may have been recorded$/);
  assert.match(messages[1], /was not sent$/);
});

test("a silent service is a TimeoutError, before and after the headers, even if `fetch` ignores its signal", async (t) => {
  const options = { ...never, timeoutMs: 100 };
  const clients = [
    await clientOn(t, server.silence, options),
    await clientOn(t, server.stall, options),
    clientOf(() => new Promise(() => {}), options),
  ];
  for (const { client, seen } of clients) {
    for (const call of [create, get]) {
      const error = await failed(call(client));
      assertError(error, TimeoutError, "timeout", /within 100 ms/);
      assert.ok(error instanceof ConnectionError);
    }
    assert.ok(seen.length <= 2); // a busy machine may not have sent a request in this time
  }
  const { client } = clientOf(silent, { timeoutMs: 20_000 });
  const shorter = [
    [{ timeoutMs: 50, maxRetries: 0 }, /within 50 ms/],
    [{ deadlineMs: 60 }, /within 60 ms/],
  ];
  for (const [own, message] of shorter)
    assertError(await failed(get(client, own)), TimeoutError, "timeout", message);
});

// ---- Signals ---------------------------------------------------------------------------------------

test("an abort rethrows the signal's reason, whatever its type", async (t) => {
  for (const reason of [new Error("mine"), 0, null, { custom: true }]) {
    const { client, seen } = clientOf(answer(retrieved()));
    assert.equal(await failed(get(client, { signal: AbortSignal.abort(reason) })), reason);
    assert.equal(seen.length, 0);
  }
  const clients = [
    await clientOn(t, server.silence),
    await clientOn(t, server.stall),
    clientOf(busy(503, "50")),
    clientOf(() => new Promise(() => {})),
  ];
  for (const { client, seen } of clients) {
    const stop = new AbortController();
    const error = failed(get(client, { signal: stop.signal }));
    while (seen.length === 0) await sleep(5);
    await sleep(20);
    stop.abort("enough");
    assert.equal(await error, "enough");
    assert.equal(seen.length, 1);
  }
  const { client } = clientOf(silent);
  assert.equal((await failed(create(client, { signal: AbortSignal.abort() }))).name, "AbortError");
  const timeout = await failed(create(client, { signal: AbortSignal.timeout(20) }));
  assert.ok(timeout instanceof DOMException && timeout.name === "TimeoutError");
});

test("a signal that misbehaves does no harm", async () => {
  const { client } = clientOf(answer(retrieved()));
  const signal = { aborted: false, addEventListener() {}, removeEventListener() {} };
  for (const own of [{}, { addEventListener: sealed }, { removeEventListener: sealed }])
    assert.deepEqual(await get(client, { signal: { ...signal, ...own } }), retrieved());
  const aborted = await failed(get(client, { signal: { ...signal, aborted: true } }));
  assert.equal(aborted.name, "AbortError");
});

test("1,000 calls at once leave no listener on their signal, beside a deadline or not", async () => {
  for (const options of [{}, { deadlineMs: 60_000 }]) {
    const good = clientOf([busy(), answer(retrieved())], options),
      quiet = clientOf(silent, options);
    const stop = new AbortController();
    const { signal } = stop;
    await Promise.all(Array.from({ length: 1_000 }, () => get(good.client, { signal })));
    assert.equal(getEventListeners(signal, "abort").length, 0);
    const errors = Array.from({ length: 1_000 }, () => failed(get(quiet.client, { signal })));
    await turn();
    stop.abort("enough");
    assert.deepEqual(new Set(await Promise.all(errors)), new Set(["enough"]));
    assert.equal(getEventListeners(signal, "abort").length, 0);
  }
});

// ---- The end of the process -------------------------------------------------------------------------

test("nothing keeps a process running when its calls have ended", async (t) => {
  const { baseUrl } = await clientOn(t, server.json(retrieved()));
  const script = `
    import { PledgeClient } from "impact-pledge";
    const options = { apiKey: "${KEY}", baseUrl: "${baseUrl}", timeoutMs: 60_000 };
    await new PledgeClient(options).getPledgeTransaction("${ID}", { signal: new AbortController().signal });
    const silent = new PledgeClient({ ...options, fetch: () => new Promise(() => {}) });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await silent.getPledgeTransaction("${ID}", { signal: stop.signal }).catch(() => console.log("ended"));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    process.on("exit", () => console.log("active", timers()));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  const [code] = await once(child, "close");
  assert.deepEqual([code, output], [0, "ended\nactive 0\n"]);
});
