/** `PledgeClient` of the packed package against a service that answers everything, in Node. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import test from "node:test";
import { inspect } from "node:util";
import {
  REQUEST,
  breakOff,
  created,
  flood,
  hangUp,
  json,
  retrieved,
  serve,
  silence,
  stall,
  text,
} from "./mock-server.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PledgeClient,
  PledgeError,
  RateLimitError,
  TimeoutError,
  ValidationError,
  responseOf,
} = await project.load();

const KEY = "service_sk_test_Zm9vYmFy";
const ID = "ptran_1";

/** Runs one call against a service that gives these answers. */
async function ask(answers, call, options = {}) {
  const service = await serve(...[answers].flat());
  const client = new PledgeClient({ apiKey: KEY, baseUrl: service.baseUrl, ...options });
  const started = Date.now();
  const result = await call(client).then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  const took = Date.now() - started;
  await service.close();
  return { ...result, seen: service.seen, took };
}

/** A service that is closed with the test. */
async function served(t, ...answers) {
  const service = await serve(...answers);
  t.after(service.close);
  return service;
}

const create = (client) => client.createPledgeTransaction(REQUEST);
const get = (client) => client.getPledgeTransaction(ID);
const never = { maxRetries: 0 };

/** An error has the properties of its class, and does not show the key. */
function assertError(error, type, code, message) {
  assert.ok(error instanceof type, `a ${type.name}, not ${inspect(error)}`);
  assert.ok(error instanceof PledgeError && error instanceof Error);
  assert.equal(error.constructor, type);
  assert.equal(error.name, type.name);
  assert.equal(error.code, code);
  if (message) assert.match(error.message, message);
  assertNoKey(error);
}

function assertNoKey(value) {
  const shown = inspect(value, {
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    showHidden: true,
    getters: true,
  });
  assert.ok(
    !shown.includes(KEY) &&
      !JSON.stringify(value).includes(KEY) &&
      !String(value?.stack).includes(KEY),
    "the key is shown",
  );
}

test("a create is one request, as the contract has it", async () => {
  const { value, seen } = await ask(json(created()), create);
  assert.deepEqual(value, created());
  const [{ method, path, headers, body }] = seen;
  assert.deepEqual([seen.length, method, path], [1, "POST", "/v2/pledge-transaction"]);
  assert.equal(headers.authorization, `Bearer ${KEY}`);
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["x-service-unit-id"], undefined);
  assert.equal(headers["idempotency-key"], undefined);
  assert.deepEqual(JSON.parse(body), REQUEST);
});

test("a get is one request without a body", async () => {
  const { value, seen } = await ask(json(retrieved()), get);
  assert.deepEqual(value, retrieved());
  const [{ method, path, headers, body }] = seen;
  assert.deepEqual(
    [seen.length, method, path, body],
    [1, "GET", `/v2/pledge-transaction/${ID}`, ""],
  );
  assert.equal(headers.authorization, `Bearer ${KEY}`);
  assert.equal(headers["content-type"], undefined);
});

test("a unit is named by the client or by the call, which goes first", async () => {
  for (const [options, call, expected] of [
    [{ unitId: "unit_a" }, {}, "unit_a"],
    [{ unitId: "unit_a" }, { unitId: "unit_b" }, "unit_b"],
    [{}, { unitId: "unit_b" }, "unit_b"],
    [{ unitId: null }, { unitId: undefined }, undefined],
  ]) {
    const got = await ask(
      json(retrieved()),
      (client) => client.getPledgeTransaction(ID, call),
      options,
    );
    assert.equal(got.seen[0].headers["x-service-unit-id"], expected);
    const made = await ask(
      json(created()),
      (client) => client.createPledgeTransaction(REQUEST, call),
      options,
    );
    assert.equal(made.seen[0].headers["x-service-unit-id"], expected);
  }
});

test("an ID is one segment of the path, whatever is in it", async () => {
  for (const [id, path] of [
    ["ptran_é/../x?y#z", "/v2/pledge-transaction/ptran_%C3%A9%2F..%2Fx%3Fy%23z"],
    ["%2e%2e", "/v2/pledge-transaction/%252e%252e"],
    ["a\0b", "/v2/pledge-transaction/a%00b"],
    ["...", "/v2/pledge-transaction/..."],
  ]) {
    const { seen } = await ask(json(retrieved()), (client) => client.getPledgeTransaction(id));
    assert.equal(seen[0].path, path);
  }
  for (const id of ["", ".", "..", undefined, null, 5, {}, Symbol("id")]) {
    const { error, seen } = await ask(json(retrieved()), (client) =>
      client.getPledgeTransaction(id),
    );
    assertError(error, PledgeError, "invalid_argument", /`id`/);
    assert.equal(seen.length, 0);
  }
});

test("a base address may have a path and a slash at its end", async (t) => {
  const service = await served(t, json(retrieved()));
  for (const [suffix, path] of [
    ["/", ""],
    ["///", ""],
    ["/api", "/api"],
    ["/api/", "/api"],
  ]) {
    await new PledgeClient({ apiKey: KEY, baseUrl: service.baseUrl + suffix }).getPledgeTransaction(
      ID,
    );
    assert.equal(service.seen.at(-1).path, `${path}/v2/pledge-transaction/${ID}`);
  }
  await new PledgeClient({ apiKey: KEY, baseUrl: new URL(service.baseUrl) }).getPledgeTransaction(
    ID,
  );
});

test("an amount is a string with two decimals, whether it came as a number or a string", async () => {
  for (const [came, expected] of [
    ["0.50", "0.50"],
    [0.5, "0.50"],
    [12, "12.00"],
    [0, "0.00"],
    ["7", "7.00"],
    ["7.5", "7.50"],
    [1e21, "1000000000000000000000.00"],
    [10.25, "10.25"],
    ["12.345", "12.35"],
    [12.345, "12.35"],
    ["-0", "0.00"],
    [-0.001, "0.00"],
  ]) {
    const charge = { amount: came, currencyCode: "GBP", paidAt: null };
    for (const [call, body] of [
      [create, created({ charge })],
      [get, retrieved({ charge })],
    ]) {
      const { value } = await ask(json(body), call);
      assert.deepEqual(value, { ...body, charge: { ...charge, amount: expected } });
    }
  }
});

test("numbers of an answer are read as their texts spell them", async () => {
  const spelled = (pattern, number) =>
    text(JSON.stringify(created()).replace(pattern, (_, start) => `${start}${number}`));
  const charge = /("charge":\{"amount":)"0.50"/,
    impact = /("impact":\{"amount":)[\d.]+/;
  for (const [number, expected] of [
    ["1e2", "100.00"],
    ["1.2345E1", "12.35"],
    [`1${"0".repeat(70_000)}e-70000`, "1.00"],
    ["0e99999999999999999999", "0.00"],
    ["1e-400", "0.00"],
  ]) {
    assert.equal((await ask(spelled(charge, number), create)).value.charge.amount, expected);
  }
  for (const [number, expected] of [
    ["1.5e1", 15],
    [`1${"0".repeat(70_000)}e-70000`, 1],
    ["5e-324", 5e-324],
  ]) {
    assert.equal(
      (await ask(spelled(impact, number), create)).value.pledges[0].impact.amount,
      expected,
    );
  }
  for (const number of ["0", "-1", "1e-400", "1e400", "0e400"]) {
    assertError(
      (await ask(spelled(impact, number), create)).error,
      ApiError,
      "api_error",
      /`\/pledges\/0\/impact\/amount` must be a number greater than 0/,
    );
  }
});

test("what the contract lets a service add or leave out is accepted as it comes", async () => {
  const extra = { later: { deep: [1, "two", null, { __proto__x: true }] }, id: ID };
  const rows = [
    [create, created(extra)],
    [create, created({ notifications: [{ type: "Email", status: "Pending", sentAt: null }] })],
    [get, retrieved(extra)],
    [
      get,
      retrieved({
        notifications: [],
        timelineUrl: "https://example.org/t",
        recipient: { email: "a@example.org" },
      }),
    ],
    [get, retrieved({ pledges: [] })],
    [get, retrieved({ trigger: {} })],
  ];
  for (const [call, body] of rows) assert.deepEqual((await ask(json(body), call)).value, body);
  for (const status of [200, 201, 202])
    assert.deepEqual((await ask(json(created(), { status }), create)).value, created());
  const marked = text(`\ufeff ${JSON.stringify(retrieved())}\n`);
  assert.deepEqual((await ask(marked, get)).value, retrieved());
  const typeless = text(JSON.stringify(retrieved()), { headers: { "content-type": "text/plain" } });
  assert.deepEqual((await ask(typeless, get)).value, retrieved());
});

test("members named like parts of JavaScript stay members", async () => {
  const body = JSON.stringify(retrieved()).replace(
    "{",
    '{"__proto__":{"polluted":1},"constructor":2,"toString":3,',
  );
  const { value } = await ask(text(body), get);
  assert.deepEqual(Object.keys(value).slice(0, 3), ["__proto__", "constructor", "toString"]);
  assert.equal({}.polluted, undefined);
});

test("an amount that is no decimal is an ApiError", async () => {
  for (const amount of ["abc", "", "1e2", "1.2.3", " 1", "NaN"]) {
    for (const [call, body] of [
      [create, created],
      [get, retrieved],
    ]) {
      const { error } = await ask(
        json(body({ charge: { amount, currencyCode: "GBP", paidAt: null } })),
        call,
      );
      assertError(error, ApiError, "api_error", /`\/charge\/amount` must be a decimal/);
    }
  }
});

const CREATE_401 = { error: "true", message: "You are not authorized. Check your API key." };
const GET_401 = { error: "Authentication failed", message: "Check your API key." };
const NOT_FOUND = { error: "Pledge transaction not found" };

test("401 is known by its status", async () => {
  for (const [call, body] of [
    [create, CREATE_401],
    [get, GET_401],
    [get, CREATE_401],
    [create, { error: "true" }],
  ]) {
    const { error, seen } = await ask(
      json(body, { status: 401, headers: { "x-request-id": "r1" } }),
      call,
    );
    assertError(error, AuthenticationError, "authentication_failed", /API key/);
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      [error.status, error.error, error.body],
      [401, body.error, JSON.stringify(body)],
    );
    assert.deepEqual(
      [error.requestId, error.headers.get("x-request-id"), seen.length],
      ["r1", "r1", 1],
    );
  }
  for (const body of ["", "<html>", "[]", '{"error":5}']) {
    const { error } = await ask(text(body, { status: 401 }), get);
    assertError(error, AuthenticationError, "authentication_failed");
    assert.deepEqual([error.error, error.body], [undefined, body]);
  }
});

test("a wrong key and a missing unit are explained in words to act on", async () => {
  const wrong = await ask(json(CREATE_401, { status: 401 }), create);
  assert.equal(
    wrong.error.message,
    `the service did not accept the API key: ${CREATE_401.message}`,
  );
  const message = "Check the API key: a team-level key needs the header `X-Service-Unit-Id`.";
  for (const [call, error] of [
    [create, "true"],
    [get, "Authentication failed"],
  ]) {
    const refused = await ask(json({ error, message }, { status: 401 }), call);
    assertError(refused.error, AuthenticationError, "authentication_failed", /`unitId`/);
  }
});

test("an answer that is not the service's names the address of the request", async (t) => {
  const rows = [
    [404, '{"error":"Not found"}'],
    [404, "<h1>404</h1>"],
    [500, '{"error":"Internal error"}'],
    [502, "<html>Bad gateway"],
    [200, "<!doctype html>"],
    [401, "<html>Sign in"],
    [403, "<html>Forbidden"],
    [301, ""],
  ];
  for (const [status, body] of rows) {
    const service = await served(t, text(body, { status }));
    const client = new PledgeClient({ apiKey: KEY, baseUrl: `${service.baseUrl}/api`, ...never });
    for (const [call, path] of [
      [create, "/v2/pledge-transaction"],
      [get, `/v2/pledge-transaction/${ID}`],
    ]) {
      await assert.rejects(call(client), (error) => {
        assert.ok(
          error.message.endsWith(`; the address was ${service.baseUrl}/api${path}`),
          error.message,
        );
        return error instanceof ApiError;
      });
    }
  }
  for (const answer of [
    json(NOT_FOUND, { status: 404 }),
    json(GET_401, { status: 401 }),
    json({ error: "Invalid request" }, { status: 400 }),
  ]) {
    const { error } = await ask(answer, get);
    assert.doesNotMatch(error.message, /http:/);
  }
});

test("not-found is known by its body, whatever its status", async () => {
  for (const status of [200, 201, 400, 401, 403, 404, 410, 422, 500, 503]) {
    const { error, seen } = await ask(json(NOT_FOUND, { status }), get);
    assertError(error, NotFoundError, "not_found", /no pledge transaction with this ID/);
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.error, seen.length], [status, NOT_FOUND.error, 1]);
  }
  for (const answer of [
    text("<h1>404</h1>", { status: 404 }),
    json({ error: "Not found" }, { status: 404 }),
  ]) {
    assertError((await ask(answer, get)).error, ApiError, "api_error", /404/);
  }
});

test("an answer that is not the contract's is an ApiError with its status and text", async () => {
  const rows = [
    ["an HTML page", 500, "<html><h1>Oops</h1>"],
    ["an empty 500", 500, ""],
    ["an empty 200", 200, ""],
    ["204", 204, ""],
    ["an HTML 200", 200, "<!doctype html>"],
    ["JSON that is no object", 200, "[]"],
    ["null", 200, "null"],
    ["JSON that breaks off", 200, JSON.stringify(created()).slice(0, -1)],
    ["an error with 200", 200, JSON.stringify(GET_401)],
    ["a member of another type", 200, JSON.stringify(created({ isLive: "yes" }))],
    ["a null that may not be", 200, JSON.stringify(created({ charge: null }))],
    ["no amount", 200, JSON.stringify(created({ charge: { currencyCode: "USD" } }))],
    [
      "another currency",
      200,
      JSON.stringify(created({ charge: { amount: "1.00", currencyCode: "XXX", paidAt: null } })),
    ],
    ["an infinite amount", 200, JSON.stringify(created()).replace('"0.50"', "1e999")],
    ["a body of zeros", 200, "\0\0\0\0"],
    ["deep JSON", 200, `{"x":${"[".repeat(100_000)}`],
    ["403", 403, '{"error":"Forbidden","message":"No."}'],
    ["413", 413, '{"error":"Content too large"}'],
    ["300", 300, ""],
  ];
  for (const [what, status, body] of rows) {
    for (const call of [create, get]) {
      const { error } = await ask(text(body, { status }), call, never);
      assertError(
        error,
        ApiError,
        "api_error",
        status === 300 ? /redirect/ : new RegExp(` ${status}\\b`),
      );
      assert.deepEqual(
        [error.status, error.body.replaceAll("\ufffd", ""), what],
        [status, body, what],
      );
    }
  }
});

test("a message names the path at which a body breaks the contract", async () => {
  const { error } = await ask(json(created({ recipient: { email: 5 } })), create);
  assert.match(error.message, /`\/recipient\/email` must be a string/);
});

test("bytes that are no UTF-8 are an ApiError", async () => {
  const body = Buffer.from(JSON.stringify(created({ reference: "ÿ" })), "latin1");
  const { error } = await ask(text(body), create);
  assertError(error, ApiError, "api_error", /UTF-8/);
  assert.match(error.body, /\ufffd/);
});

test("a redirect is not followed: it would take the key along", async (t) => {
  const other = await served(t, json(retrieved()));
  for (const status of [301, 302, 303, 307, 308]) {
    for (const call of [create, get]) {
      const { error } = await ask(
        text("", { status, headers: { location: `${other.baseUrl}/v2` } }),
        call,
      );
      assertError(error, ApiError, "api_error", /redirect.*`baseUrl`/);
      assert.deepEqual(
        [error.status, error.headers.get("location")],
        [status, `${other.baseUrl}/v2`],
      );
    }
  }
  assert.equal(other.seen.length, 0);
});

test("an error without end is cut off", async () => {
  const { error, took } = await ask(flood, get, { ...never, timeoutMs: 5_000 });
  assertError(error, ApiError, "api_error", /500/);
  assert.equal(error.body.length, 65_536);
  assert.ok(took < 4_000);
});

test("a connection that fails is a ConnectionError with its cause", async () => {
  for (const answer of [hangUp, breakOff]) {
    for (const call of [create, get]) {
      const { error, seen } = await ask(answer, call, never);
      assertError(
        error,
        ConnectionError,
        "connection_failed",
        call === create ? /may have been recorded/ : /no answer/,
      );
      assert.ok(error.cause instanceof Error);
      assert.equal(seen.length, 1);
    }
  }
  const client = new PledgeClient({ apiKey: KEY, baseUrl: "http://127.0.0.1:9", ...never });
  await assert.rejects(get(client), (error) => {
    assertError(error, ConnectionError, "connection_failed");
    return true;
  });
});

test("a request that found no service was not sent", async () => {
  const gone = await serve(json(created()));
  await gone.close();
  const refused = new PledgeClient({ apiKey: KEY, baseUrl: gone.baseUrl, ...never });
  const unknown = new PledgeClient({ apiKey: KEY, baseUrl: "http://nowhere.invalid", ...never });
  const failing = (cause) =>
    new PledgeClient({
      apiKey: KEY,
      baseUrl: "https://pledges.example.org",
      ...never,
      fetch: () => Promise.reject(new TypeError("fetch failed", { cause })),
    });
  const coded = (code, more) => Object.assign(new Error(code), { code, ...more });
  const unsent = [
    refused,
    unknown,
    ...["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT"].map((code) =>
      failing(coded(code)),
    ),
  ];
  unsent.push(
    failing(coded("ETIMEDOUT", { syscall: "connect" })),
    failing(new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")])),
  );
  for (const client of unsent) {
    for (const call of [create, get]) {
      await assert.rejects(call(client), (error) => {
        assertError(error, ConnectionError, "connection_failed", /; the request was not sent$/);
        return true;
      });
    }
  }
  const sent = [
    "ECONNRESET",
    "EPIPE",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "ETIMEDOUT",
  ].map((code) => failing(coded(code)));
  sent.push(failing(new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET")])));
  for (const client of sent)
    await assert.rejects(create(client), /; the transaction may have been recorded$/);
  // The first request may have been recorded, however the repeat ended.
  const codes = ["ECONNRESET", "ECONNREFUSED"];
  const safe = new PledgeClient({
    apiKey: KEY,
    baseUrl: "https://pledges.example.org",
    safeRepeats: true,
    maxRetries: 1,
    fetch: () => Promise.reject(coded(codes.shift())),
  });
  await assert.rejects(create(safe), /; the transaction may have been recorded$/);
});

test("silence is a TimeoutError, before the headers and behind them", async () => {
  for (const answer of [silence, stall]) {
    for (const call of [create, get]) {
      const { error, took, seen } = await ask(answer, call, { ...never, timeoutMs: 150 });
      assertError(error, TimeoutError, "timeout", /150 ms/);
      assert.ok(error instanceof ConnectionError);
      assert.ok(took >= 140 && took < 2_000, `${took} ms`);
      assert.equal(seen.length, 1);
    }
  }
  const { error, took } = await ask(
    silence,
    (client) => client.getPledgeTransaction(ID, { timeoutMs: 100 }),
    never,
  );
  assertError(error, TimeoutError, "timeout", /100 ms/);
  assert.ok(took < 2_000);
});

const busy = (status = 503, headers = { "retry-after": "0" }) =>
  json({ error: "Busy" }, { status, headers });

test("a get is repeated while that can help", async () => {
  for (const answer of [
    busy(408),
    busy(429),
    busy(500),
    busy(502),
    busy(503),
    busy(504),
    hangUp,
    breakOff,
  ]) {
    const { value, seen } = await ask([answer, json(retrieved())], get);
    assert.deepEqual([value, seen.length], [retrieved(), 2]);
    assert.equal(responseOf(value).retries, 1);
  }
  for (const status of [400, 401, 403, 404, 405, 409, 413, 415, 422]) {
    assert.equal((await ask(busy(status), get)).seen.length, 1);
  }
  const { error, seen } = await ask(busy(503), get);
  assertError(error, ApiError, "api_error", /503: Busy/);
  assert.equal(seen.length, 3);
  assert.equal((await ask(busy(503), get, { maxRetries: 4 })).seen.length, 5);
  assert.equal((await ask(busy(503), get, never)).seen.length, 1);
});

test("a timeout of a get is repeated, and each attempt has its own time", async () => {
  const { error, seen } = await ask(silence, get, { maxRetries: 1, timeoutMs: 100 });
  assertError(error, TimeoutError, "timeout");
  assert.equal(seen.length, 2);
});

test("waits grow, and Retry-After is honoured in seconds and as a date", async () => {
  const plain = await ask(text("", { status: 503 }), get);
  const waits = plain.seen.slice(1).map(({ at }, index) => at - plain.seen[index].at);
  assert.ok(waits[0] >= 245 && waits[0] < 900 && waits[1] >= 495 && waits[1] < 1_500, `${waits}`);
  const inSeconds = await ask([busy(429, { "retry-after": "1" }), json(retrieved())], get);
  assert.ok(inSeconds.took >= 995 && inSeconds.took < 2_500, `${inSeconds.took}`);
  const date = new Date(Date.now() + 2_000).toUTCString();
  const byDate = await ask([busy(503, { "retry-after": date }), json(retrieved())], get);
  assert.ok(byDate.took >= 900 && byDate.took < 3_500, `${byDate.took}`);
});

test("a Retry-After that is neither is as good as none", async () => {
  for (const unreadable of [
    "Invalid Date",
    "soon",
    "-1",
    "2020-01-01",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun, 6 Nov 1994 08:49:37 GMT",
  ]) {
    const { seen, took } = await ask(
      [busy(503, { "retry-after": unreadable }), json(retrieved())],
      get,
    );
    assert.equal(seen.length, 2);
    assert.ok(took >= 245, `${unreadable}: ${took}`);
  }
});

test("a wait until a far date is left to the caller", async () => {
  const { seen } = await ask(busy(503, { "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }), get);
  assert.equal(seen.length, 1);
});

test("a wait of more than a minute is left to the caller", async () => {
  const { error, seen, took } = await ask(busy(429, { "retry-after": "3600" }), get);
  assertError(error, RateLimitError, "rate_limited", /429/);
  assert.deepEqual([error.headers.get("retry-after"), seen.length], ["3600", 1]);
  assert.ok(took < 1_000);
});

test("a create is never repeated by itself", async () => {
  for (const answer of [hangUp, breakOff, busy(503), busy(429), busy(408)]) {
    const { error, seen } = await ask([answer, json(created())], create);
    assert.ok(error instanceof PledgeError);
    assert.equal(seen.length, 1);
  }
  const withKey = (client) =>
    client.createPledgeTransaction(REQUEST, { idempotencyKey: "order-1" });
  const { error, seen } = await ask([busy(503), json(created())], withKey);
  assert.deepEqual(
    [error.idempotencyKey, seen.length, seen[0].headers["idempotency-key"]],
    ["order-1", 1, "order-1"],
  );
});

test("with safeRepeats a create is repeated under one key for each call", async () => {
  const safe = { safeRepeats: true };
  const keys = [];
  for (const answer of [hangUp, breakOff, busy(503), busy(429)]) {
    const { value, seen } = await ask([answer, json(created())], create, safe);
    const [first, second] = seen.map(({ headers }) => headers["idempotency-key"]);
    assert.equal(first, second);
    assert.equal(responseOf(value).idempotencyKey, first);
    assert.deepEqual(seen[0].body, seen[1].body);
    keys.push(first);
  }
  assert.ok(keys.every((key) => /^[0-9a-f]{32}$/.test(key)));
  assert.equal(new Set(keys).size, keys.length);
  const withKey = (client) =>
    client.createPledgeTransaction(REQUEST, { idempotencyKey: 'my "key"' });
  const { seen } = await ask([busy(503), json(created())], withKey, safe);
  assert.deepEqual(
    seen.map(({ headers }) => headers["idempotency-key"]),
    ['"my \\"key\\""', '"my \\"key\\""'],
  );
  const { error } = await ask(hangUp, create, { ...safe, ...never });
  assertError(error, ConnectionError, "connection_failed");
  assert.match(error.idempotencyKey, /^[0-9a-f]{32}$/);
});

test("a replayed answer is marked as such", async () => {
  const { value } = await ask(
    json(created(), { headers: { "idempotent-replayed": "true", "x-request-id": "r2" } }),
    create,
  );
  const { idempotentReplayed, requestId, status, headers, retries } = responseOf(value);
  assert.deepEqual(
    [idempotentReplayed, requestId, status, headers.get("content-type"), retries],
    [true, "r2", 200, "application/json", 0],
  );
  assert.ok(Object.isFrozen(responseOf(value)));
  assert.deepEqual(Object.keys(value), Object.keys(created()));
  assert.equal(responseOf({ ...value }), undefined);
});

test("an abort rethrows the signal's reason, whatever that is", async () => {
  for (const reason of [new Error("mine"), "text", 0, null, { custom: true }]) {
    const before = await ask(json(retrieved()), (client) =>
      client.getPledgeTransaction(ID, { signal: AbortSignal.abort(reason) }),
    );
    assert.equal(before.error, reason);
    assert.equal(before.seen.length, 0);
    for (const answer of [silence, stall, busy(503, { "retry-after": "50" })]) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 60);
      const { error, took, seen } = await ask(answer, (client) =>
        client.getPledgeTransaction(ID, { signal: controller.signal }),
      );
      assert.equal(error, reason);
      assert.ok(took < 2_000, `${took} ms`);
      assert.equal(seen.length, 1);
    }
  }
  const { error } = await ask(silence, (client) =>
    client.createPledgeTransaction(REQUEST, { signal: AbortSignal.abort() }),
  );
  assert.equal(error.name, "AbortError");
  const timeout = await ask(silence, (client) =>
    client.createPledgeTransaction(REQUEST, { signal: AbortSignal.timeout(50) }),
  );
  assert.ok(timeout.error instanceof DOMException && timeout.error.name === "TimeoutError");
});

test("a signal that misbehaves does no harm", async () => {
  const hostile = (changes) => ({
    aborted: false,
    addEventListener() {},
    removeEventListener() {},
    ...changes,
  });
  const thrower = () => {
    throw new Error("no");
  };
  for (const signal of [
    hostile(),
    hostile({ addEventListener: thrower }),
    hostile({ removeEventListener: thrower }),
  ]) {
    assert.deepEqual(
      (await ask(json(retrieved()), (client) => client.getPledgeTransaction(ID, { signal }))).value,
      retrieved(),
    );
  }
  const aborted = hostile({ aborted: true });
  const { error } = await ask(json(retrieved()), (client) =>
    client.getPledgeTransaction(ID, { signal: aborted }),
  );
  assert.equal(error.name, "AbortError");
});

test("a signal that outlives its calls is left without listeners", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  Object.assign(signal, {
    addEventListener(...args) {
      listeners += 1;
      addEventListener.apply(signal, args);
    },
    removeEventListener(...args) {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    },
  });
  await ask([busy(503), json(retrieved())], (client) =>
    client.getPledgeTransaction(ID, { signal }),
  );
  assert.equal(listeners, 0);
});

test("options that can't be used are refused by name, and the key is not shown", async () => {
  const good = { apiKey: KEY, baseUrl: "https://pledges.example.org" };
  const thrower = {
    get apiKey() {
      throw new Error("no");
    },
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const rows = [
    [undefined, /options/],
    [null, /options/],
    ["x", /options/],
    [[], /`apiKey`/],
    [{}, /`apiKey`/],
    [thrower, /`apiKey`/],
    [revoked.proxy, /`options`/],
    [{ ...good, apiKey: undefined }, /`apiKey`.*undefined/],
    [{ ...good, apiKey: "" }, /`apiKey`/],
    [{ ...good, apiKey: `${KEY}\n` }, /`apiKey`/],
    [{ ...good, apiKey: `Bearer ${KEY}` }, /`apiKey`/],
    [{ ...good, apiKey: "schlüssel" }, /`apiKey`/],
    [{ ...good, apiKey: 5 }, /`apiKey`/],
    [{ ...good, baseUrl: undefined }, /`baseUrl`/],
    [{ ...good, baseUrl: "" }, /`baseUrl`/],
    [{ ...good, baseUrl: "/api" }, /`baseUrl`/],
    [{ ...good, baseUrl: "pledges.example.org" }, /`baseUrl`/],
    [{ ...good, baseUrl: "ftp://pledges.example.org" }, /`baseUrl`/],
    [{ ...good, baseUrl: "https://user:pass@pledges.example.org" }, /`baseUrl`/],
    [{ ...good, baseUrl: "https://pledges.example.org?x=1" }, /`baseUrl`/],
    [{ ...good, baseUrl: "https://pledges.example.org#x" }, /`baseUrl`/],
    [{ ...good, unitId: "" }, /`unitId`/],
    [{ ...good, unitId: "a\nb" }, /`unitId`/],
    [{ ...good, unitId: 5 }, /`unitId`/],
    [{ ...good, timeoutMs: 0 }, /`timeoutMs`/],
    [{ ...good, timeoutMs: 1.5 }, /`timeoutMs`/],
    [{ ...good, timeoutMs: Infinity }, /`timeoutMs`/],
    [{ ...good, timeoutMs: 2 ** 31 }, /`timeoutMs`/],
    [{ ...good, timeoutMs: "5" }, /`timeoutMs`/],
    [{ ...good, maxRetries: -1 }, /`maxRetries`/],
    [{ ...good, maxRetries: 11 }, /`maxRetries`/],
    [{ ...good, safeRepeats: "yes" }, /`safeRepeats`/],
    [{ ...good, fetch: {} }, /`fetch`/],
    [{ ...good, fetch: "fetch" }, /`fetch`/],
    [{ ...good, dangerouslyAllowBrowser: 1 }, /`dangerouslyAllowBrowser`/],
    [{ ...good, timeout: 5 }, /`timeout` is not an option.*`timeoutMs`/],
  ];
  for (const [options, message] of rows) {
    assert.throws(
      () => new PledgeClient(options),
      (error) => {
        assertError(error, PledgeError, "invalid_argument", message);
        return true;
      },
    );
  }
  const calls = [
    [{ signal: {} }, /`signal`/],
    [{ signal: "x" }, /`signal`/],
    [{ timeoutMs: -1 }, /`timeoutMs`/],
    [{ unitId: " " }, /`unitId`/],
    [{ idempotencyKey: "" }, /`idempotencyKey`/],
    [{ idempotencyKey: "é" }, /`idempotencyKey`/],
    [{ idempotencyKey: "x".repeat(256) }, /`idempotencyKey`/],
    [{ maxRetries: 11 }, /`maxRetries`/],
    [{ deadlineMs: 0 }, /`deadlineMs`/],
    [{ headers: { "x y": "z" } }, /`headers`/],
    [{ apiKey: KEY }, /`apiKey` is not an option here/],
    ["x", /options/],
  ];
  for (const [options, message] of calls) {
    const { error, seen } = await ask(json(created()), (client) =>
      client.createPledgeTransaction(REQUEST, options),
    );
    assertError(error, PledgeError, "invalid_argument", message);
    assert.equal(seen.length, 0);
  }
  const { error } = await ask(json(retrieved()), (client) =>
    client.getPledgeTransaction(ID, { idempotencyKey: "x" }),
  );
  assertError(error, PledgeError, "invalid_argument", /`idempotencyKey`/);
});

test("a live key goes over http to this machine alone", async () => {
  const live = "service_sk_live_Zm9vYmFy";
  const made = (baseUrl, more) => new PledgeClient({ apiKey: live, baseUrl, ...more });
  for (const host of [
    "pledges.example.org",
    "10.0.0.1",
    "localhost.example.org",
    "127.example.org",
    "128.0.0.1",
    "[::2]",
    "0.0.0.0",
    "mylocalhost",
  ]) {
    for (const baseUrl of [
      `http://${host}`,
      `HTTP://${host}:8080/api`,
      new URL(`http://${host}/`),
    ]) {
      assert.throws(
        () => made(baseUrl),
        (error) => {
          assertError(error, PledgeError, "live_key_over_http", /https.*`dangerouslyAllowHttp`/);
          return !inspect(error).includes(live);
        },
      );
      made(baseUrl, { dangerouslyAllowHttp: true });
      new PledgeClient({ apiKey: KEY, baseUrl });
    }
    made(`https://${host}`);
  }
  for (const host of [
    "localhost",
    "LOCALHOST:8787",
    "shop.localhost",
    "127.0.0.1",
    "127.0.0.1:8787",
    "127.255.0.9",
    "127.1",
    "[::1]",
    "[::1]:8787",
  ])
    made(`http://${host}`);
  assert.throws(
    () => made("https://pledges.example.org", { dangerouslyAllowHttp: "yes" }),
    /`dangerouslyAllowHttp`/,
  );
});

test("the key is in no error, log, URL or property, even if the service shows it", async () => {
  const client = new PledgeClient({ apiKey: KEY, baseUrl: "https://pledges.example.org" });
  assertNoKey(client);
  assert.deepEqual([Object.keys(client), Reflect.ownKeys(client), { ...client }], [[], [], {}]);
  const echo =
    (status) =>
    (response, { headers }) => {
      response.writeHead(status, { "x-echo": headers.authorization });
      response.end(
        JSON.stringify({ error: `no: ${headers.authorization}`, message: headers.authorization }),
      );
    };
  for (const status of [401, 403, 500, 200, 302]) {
    const { error } = await ask(echo(status), get, never);
    assert.ok(error instanceof ApiError);
    assertNoKey(error);
    assertNoKey([...error.headers]);
    assert.match(error.body, /\[API key\]/);
  }
  const leaky = (_url, init) => {
    throw Object.assign(new Error(`failed: ${inspect(init)}`), { init });
  };
  const { error } = await ask(json(retrieved()), get, { ...never, fetch: leaky });
  assertError(error, ConnectionError, "connection_failed");
});

/** Errors that a `fetch` can reject with: each has the key somewhere. */
function leaks() {
  const secret = `Bearer ${KEY}`;
  const error = (properties, message = "failed") => Object.assign(new Error(message), properties);
  const hidden = Object.defineProperty(new Error("failed"), "config", {
    value: { headers: { authorization: secret } },
  });
  const cyclic = error({});
  cyclic.cause = error({ cause: cyclic, init: { headers: [["authorization", secret]] } });
  const stacked = error({});
  stacked.stack = `Error: ${secret}\n    at fetch`;
  let deep = error({}, secret);
  for (let depth = 0; depth < 5_000; depth += 1) deep = new Error("failed", { cause: deep });
  class Failure extends Error {
    get request() {
      return secret;
    }
  }
  const lying = new Proxy(error({ init: secret }), {
    ownKeys: () => ["stack"],
    get: (target, name) => (name === "init" ? undefined : Reflect.get(target, name)),
  });
  return [
    error({ cause: secret }),
    error({ cause: error({ cause: error({ cause: error({}, secret) }) }) }),
    error({ init: { headers: { authorization: secret } } }),
    error({ request: new Request("https://example.org", { headers: { authorization: secret } }) }),
    error({ headers: new Headers({ authorization: secret }) }),
    error({
      map: new Map([[secret, new Set([secret])]]),
      [secret]: 1,
      [Symbol(secret)]: Symbol(secret),
    }),
    error({
      bytes: Buffer.from(secret),
      promise: Promise.resolve(secret),
      boxed: new String(secret),
    }),
    error({ log: Object.assign(() => {}, { secret }), code: secret, name: secret }),
    new AggregateError([error({}, secret), secret, { secret }], "all failed"),
    new DOMException(secret, "NetworkError"),
    error({
      url: `https://example.org/?key=${encodeURIComponent(KEY)}`,
      text: JSON.stringify(JSON.stringify(secret)),
    }),
    Object.assign(new Failure("failed"), { [inspect.custom]: () => secret }),
    [secret, [secret]],
    { secret, toString: () => secret },
    Object.assign(Object.create({ secret }), { message: secret }),
    secret,
    Symbol(secret),
    hidden,
    cyclic,
    stacked,
    deep,
    lying,
  ];
}

test("the key is in nothing that a caller's `fetch` throws", async () => {
  for (const thrown of leaks()) {
    const { error } = await ask([], create, { ...never, fetch: () => Promise.reject(thrown) });
    assertError(error, ConnectionError, "connection_failed");
    let causes = 0;
    for (let { cause } = error; cause != null && causes < 10_000; { cause } = cause) causes += 1;
    assert.ok(causes < 100, `${causes} causes`);
  }
});

test("a cause keeps what helps to find a failure", async () => {
  const inner = Object.assign(new RangeError("inner"), {
    code: "ECONNRESET",
    errno: -104,
    syscall: "read",
    address: "127.0.0.1",
    port: 9,
    detail: { tries: [1, 2] },
  });
  const thrown = new TypeError("fetch failed", { cause: inner });
  const { error } = await ask([], create, { ...never, fetch: () => Promise.reject(thrown) });
  const { cause } = error;
  assert.ok(cause instanceof Error && cause.cause instanceof Error);
  assert.deepEqual(
    [cause.name, cause.message, cause.stack],
    ["TypeError", "fetch failed", thrown.stack],
  );
  const { name, message, code, errno, syscall, address, port, detail } = cause.cause;
  assert.deepEqual(
    { name, message, code, errno, syscall, address, port, detail },
    {
      name: "RangeError",
      message: "inner",
      code: "ECONNRESET",
      errno: -104,
      syscall: "read",
      address: "127.0.0.1",
      port: 9,
      detail: { tries: [1, 2] },
    },
  );
  assert.match(error.message, /inner; the transaction may have been recorded/);
  const several = await ask([], get, {
    ...never,
    fetch: () => Promise.reject(new AggregateError([inner, 5], "several")),
  });
  assert.deepEqual(
    [several.error.cause.errors[0].code, several.error.cause.errors[1]],
    ["ECONNRESET", 5],
  );
  for (const plain of ["text", 5, null, undefined, true, 10n]) {
    assert.equal(
      (await ask([], get, { ...never, fetch: () => Promise.reject(plain) })).error.cause,
      plain,
    );
  }
});

test("a hostile cause costs little, whatever it is", async () => {
  const thrower = () => {
    throw new Error(KEY);
  };
  const traps = Object.fromEntries(
    ["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"].map((name) => [
      name,
      thrower,
    ]),
  );
  const endless = () =>
    new Proxy(new Error(KEY), {
      get: (_, name) => (name === "cause" || name === "errors" ? endless() : KEY),
    });
  const wide = Object.assign(
    new Error("wide"),
    Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`p${index}`, KEY])),
  );
  const list = new AggregateError(
    Array.from({ length: 200_000 }, () => new Error(KEY)),
    "list",
  );
  const long = new Error(`x${KEY}`.repeat(400_000));
  const shared = new AggregateError(
    Array.from({ length: 2_000 }, () => long),
    "shared",
  );
  const sparse = new AggregateError([], "sparse");
  sparse.errors.length = 2 ** 32 - 1;
  const thousandfold = Array.from({ length: 5 }).reduce(
    (inner) => Array.from({ length: 100 }, () => inner),
    KEY,
  );
  const getters = Object.defineProperties(new Error("getters"), {
    stack: { get: thrower },
    message: { get: thrower },
    cause: { get: thrower },
    other: { get: thrower, enumerable: true },
  });
  for (const thrown of [
    new Proxy(new Error(KEY), traps),
    new Proxy({}, traps),
    new Proxy(() => {}, traps),
    endless(),
    wide,
    list,
    long,
    shared,
    sparse,
    thousandfold,
    getters,
  ]) {
    const { error, took } = await ask([], get, { ...never, fetch: () => Promise.reject(thrown) });
    assertError(error, ConnectionError, "connection_failed");
    assert.ok(
      inspect(error, {
        depth: Infinity,
        maxArrayLength: Infinity,
        maxStringLength: Infinity,
        showHidden: true,
      }).length < 4_000_000,
      "the copy is small",
    );
    assert.ok(took < 10_000, `${took} ms`);
  }
});

test("an answer that is cut does not end in a part of the key", async () => {
  const half = "x".repeat(65_536 - 12) + KEY;
  const { error } = await ask(text(half, { status: 500 }), get, never);
  assert.ok(
    error.body.length > 65_000 && !error.body.includes(KEY.slice(0, 10)),
    error.body.slice(-40),
  );
  const words = await ask(
    json({ error: "x".repeat(1_000 - 14) + KEY }, { status: 500 }),
    get,
    never,
  );
  assert.ok(!words.error.message.includes(KEY.slice(0, 10)), words.error.message);
});

test("large answers and long lists of headers are redacted in linear time", async () => {
  const quoted = 'a"\\\\key';
  const bodies = [KEY.repeat(200_000), KEY.slice(0, -1).repeat(200_000), `"`.repeat(4_000_000)];
  for (const apiKey of [KEY, "a".repeat(500), quoted]) {
    for (const body of [...bodies, "a".repeat(4_000_000)]) {
      const { error, took } = await ask([], get, {
        ...never,
        apiKey,
        fetch: () => new Response(body),
      });
      assert.ok(error instanceof ApiError && !error.body.includes(apiKey));
      assert.ok(took < 30_000, `${took} ms`);
    }
  }
  const headers = new Headers(
    Array.from({ length: 200_000 }, (_, index) => [`x-${index}`, index % 2 ? KEY : "value"]),
  );
  const many = new Headers(Array.from({ length: 50_000 }, () => ["set-cookie", KEY]));
  for (const list of [headers, many]) {
    const { error, took } = await ask([], get, {
      ...never,
      fetch: () => ({ status: 403, headers: list, body: null }),
    });
    assertError(error, ApiError, "api_error");
    assert.ok(took < 30_000, `${took} ms`);
  }
});

test("headers of the caller's own making show no key", async () => {
  class Shown extends Headers {
    secret = KEY;
  }
  let reads = 0;
  const flipping = {
    get: () => null,
    *[Symbol.iterator]() {
      yield ["x-echo", reads++ ? KEY : "fine"];
    },
  };
  const endless = {
    get: () => null,
    *[Symbol.iterator]() {
      for (;;) yield ["x-echo", KEY];
    },
  };
  const broken = { get: (name) => (name === "x-request-id" ? `r ${KEY}` : null), secret: KEY };
  const malformed = {
    get: () => null,
    *[Symbol.iterator]() {
      yield [Symbol("x"), 5];
      yield 7;
      yield ["a b\n", KEY];
      yield ["fine", KEY];
    },
  };
  for (const headers of [new Shown({ "x-echo": KEY }), flipping, endless, broken, malformed]) {
    const { error } = await ask([], get, {
      ...never,
      fetch: () => ({ status: 403, headers, body: null }),
    });
    assertError(error, ApiError, "api_error");
    assert.ok(error.headers instanceof Headers);
    assertNoKey([...error.headers]);
  }
  const { error } = await ask([], get, {
    ...never,
    fetch: () => ({ status: 403, headers: broken, body: null }),
  });
  assert.equal(error.requestId, "r [API key]");
});

test("a request that breaks rules is not sent, and all of its problems are listed", async () => {
  const invalid = {
    recipient: { email: "ada@" },
    pledges: [{ impact: { amount: 0, offeringId: 5 } }],
    extra: 1,
  };
  const { error, seen } = await ask(json(created()), (client) =>
    client.createPledgeTransaction(invalid),
  );
  assertError(
    error,
    ValidationError,
    "invalid_request",
    /`\/reference` is required; .*; and 2 more$/,
  );
  assert.deepEqual(
    error.issues.map(({ pointer, code }) => [pointer, code]),
    [
      ["/reference", "required"],
      ["/recipient/email", "invalid_email"],
      ["/pledges/0/impact/amount", "not_positive"],
      ["/pledges/0/impact/offeringId", "invalid_type"],
      ["/extra", "unknown_member"],
    ],
  );
  assert.equal(seen.length, 0);
});

test("what is checked is what is sent", async () => {
  const cyclic = { ...REQUEST };
  cyclic.recipient = cyclic;
  const thrower = {
    ...REQUEST,
    get reference() {
      throw new Error("no");
    },
  };
  const revoked = Proxy.revocable({ ...REQUEST }, {});
  revoked.revoke();
  const hostile = [
    undefined,
    null,
    5,
    "x",
    [],
    () => {},
    Symbol("x"),
    10n,
    cyclic,
    thrower,
    revoked.proxy,
    { ...REQUEST, reference: 10n },
    { ...REQUEST, toJSON: () => 5 },
    new Date(),
  ];
  for (const value of hostile) {
    const { error, seen } = await ask(json(created()), (client) =>
      client.createPledgeTransaction(value),
    );
    assertError(error, ValidationError, "invalid_request");
    assert.ok(error.issues.length > 0);
    assert.equal(seen.length, 0);
  }
  for (const wrongFrom of [1, 2, 3, 4]) {
    let reads = 0;
    const flipping = {
      ...REQUEST,
      get reference() {
        reads += 1;
        return reads >= wrongFrom ? 5 : "order-1";
      },
    };
    const { error, seen } = await ask(json(created()), (client) =>
      client.createPledgeTransaction(flipping),
    );
    if (error) assertError(error, ValidationError, "invalid_request");
    for (const { body } of seen) assert.equal(JSON.parse(body).reference, "order-1");
  }
  class Order {
    constructor() {
      Object.assign(this, REQUEST);
    }
    toJSON() {
      return { ...REQUEST, reference: 5 };
    }
  }
  const { error, seen } = await ask(json(created()), (client) =>
    client.createPledgeTransaction(new Order()),
  );
  assertError(error, ValidationError, "invalid_request", /`\/reference`/);
  assert.equal(seen.length, 0);
});

test("members that are undefined are absent", async () => {
  const { seen } = await ask(json(created()), (client) =>
    client.createPledgeTransaction({ ...REQUEST, trigger: undefined, notifications: undefined }),
  );
  assert.deepEqual(JSON.parse(seen[0].body), REQUEST);
});

test("a `fetch` of the caller's gets an address and plain objects", async () => {
  const calls = [];
  const own = async (...args) => {
    calls.push(args);
    return Response.json(created());
  };
  await ask(json(created()), create, { fetch: own, unitId: "unit_1" });
  const [[url, init]] = calls;
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v2\/pledge-transaction$/);
  assert.deepEqual(
    [init.method, init.redirect, JSON.parse(init.body)],
    ["POST", "manual", REQUEST],
  );
  assert.deepEqual(init.headers, {
    authorization: `Bearer ${KEY}`,
    "x-service-unit-id": "unit_1",
    "content-type": "application/json",
    "user-agent": `impact-pledge/${project.require("impact-pledge/package.json").version}`,
  });
  assert.ok(init.signal instanceof AbortSignal);
});

test("a `fetch` of the caller's may be a service binding", async () => {
  const binding = {
    requests: [],
    async fetch(url, init) {
      this.requests.push(new Request(url, init));
      return Response.json(retrieved());
    },
  };
  const { value } = await ask(json(retrieved()), get, { fetch: binding });
  assert.deepEqual(value, retrieved());
  assert.equal(binding.requests[0].headers.get("authorization"), `Bearer ${KEY}`);
});

test("a `fetch` that misbehaves is a ConnectionError", async () => {
  const rejecting = (value) => async () => {
    throw value;
  };
  const throwing = () => {
    throw new Error("at once");
  };
  const notResponses = [
    undefined,
    null,
    5,
    "x",
    {},
    { status: 200 },
    { status: "200", headers: new Headers() },
    { status: 200.5, headers: new Headers() },
    { status: 200, headers: {} },
  ];
  const hostileResponse = {
    get status() {
      throw new Error("no");
    },
  };
  const used = new Response("x");
  await used.text();
  const broken = [
    throwing,
    ...[new Error("x"), "text", 5, null, undefined, Symbol("x"), Object.create(null)].map(
      rejecting,
    ),
    ...[...notResponses, hostileResponse, used].map((value) => () => value),
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: a hostile `fetch` gives a thenable
      get then() {
        throw new Error("thenable");
      },
    }),
    () => ({
      status: 200,
      headers: new Headers(),
      body: { getReader: () => ({ read: () => Promise.reject(new Error("read")) }) },
    }),
    () => ({ status: 200, headers: new Headers(), body: { getReader: () => ({ read: () => 5 }) } }),
  ];
  for (const fetch of broken) {
    const { error } = await ask(json(retrieved()), get, { ...never, fetch });
    assertError(error, ConnectionError, "connection_failed");
  }
  assert.deepEqual((await ask(json(retrieved()), get)).value, retrieved());
});

/** A Response whose stream returns what `read` returns. */
const streamed =
  (read, status = 200) =>
  () => ({
    status,
    headers: new Headers(),
    body: { getReader: () => ({ read, cancel: () => Promise.resolve() }) },
  });

test("a stream of something else than bytes is a ConnectionError at once", async () => {
  const lengths = [-1, NaN, Infinity, 2 ** 53, 1e9, "5", 0].map((length) => ({
    length,
    byteLength: length,
    buffer: new ArrayBuffer(0),
    byteOffset: 0,
  }));
  const buffer = new ArrayBuffer(8);
  const detached = new Uint8Array(buffer);
  structuredClone(buffer, { transfer: [buffer] });
  const wrong = [
    ...lengths,
    "text",
    5,
    null,
    undefined,
    {},
    [1, 2],
    new ArrayBuffer(8),
    new DataView(new ArrayBuffer(8)),
    new Uint16Array(8),
    new Proxy(new Uint8Array(8), {}),
    Object.create(Uint8Array.prototype),
  ];
  for (const value of wrong) {
    const { error, took } = await ask([], get, {
      ...never,
      timeoutMs: 5_000,
      fetch: streamed(async () => ({ done: false, value })),
    });
    assertError(error, ConnectionError, "connection_failed", /Uint8Array/);
    assert.ok(took < 4_000, `${took} ms`);
  }
  assert.ok(
    (
      await ask([], get, {
        ...never,
        timeoutMs: 200,
        fetch: streamed(async () => ({ value: detached })),
      })
    ).error instanceof ConnectionError,
  );
  for (const whole of [5, 1e9, { length: 1e9 }, "text", null, undefined, []]) {
    const { error } = await ask([], get, {
      ...never,
      fetch: () => ({
        status: 200,
        headers: new Headers(),
        body: {},
        arrayBuffer: async () => whole,
      }),
    });
    assertError(error, ConnectionError, "connection_failed", /ArrayBuffer/);
  }
});

test("bytes that lie about their length are read as what they are", async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(retrieved()));
  for (const length of [-5, NaN, 1e9, "x"]) {
    const lying = Object.defineProperties(bytes.slice(), {
      length: { value: length },
      byteLength: { value: length },
      byteOffset: { value: length },
    });
    const chunks = [lying];
    const { value, error } = await ask([], get, {
      ...never,
      fetch: streamed(async () => ({ done: chunks.length === 0, value: chunks.pop() })),
    });
    assert.deepEqual(value, retrieved(), inspect(error));
  }
});

test("a stream that never ends is left at the timeout, in little memory", async () => {
  const dribble = [new Uint8Array(0), new Uint8Array(1)];
  for (const value of dribble) {
    let reads = 0;
    const endless = async () => {
      reads += 1;
      return { done: false, value };
    };
    const before = process.memoryUsage().rss;
    const { error, took } = await ask([], get, {
      ...never,
      timeoutMs: 300,
      fetch: streamed(endless),
    });
    assertError(error, TimeoutError, "timeout");
    assert.ok(took < 5_000, `${took} ms`);
    const soFar = reads;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(reads - soFar < 2, "reading goes on behind the timeout");
    assert.ok(process.memoryUsage().rss - before < 200e6, "memory");
    const controller = new AbortController();
    setTimeout(() => controller.abort("enough"), 50);
    const aborted = await ask(
      [],
      (client) => client.getPledgeTransaction(ID, { signal: controller.signal }),
      { ...never, fetch: streamed(endless) },
    );
    assert.equal(aborted.error, "enough");
  }
});

test("an answer in a million pieces is joined in linear time", async () => {
  const bytes = new TextEncoder().encode(
    JSON.stringify(retrieved({ later: "x".repeat(1_000_000) })),
  );
  let at = 0;
  const byByte = async () =>
    at < bytes.length ? { done: false, value: bytes.subarray(at, ++at) } : { done: true };
  const { value, took } = await ask([], get, { ...never, fetch: streamed(byByte) });
  assert.equal(value.later.length, 1_000_000);
  assert.ok(took < 25_000, `${took} ms`);
  const block = new Uint8Array(100_000_000);
  const { error } = await ask([], get, {
    ...never,
    fetch: streamed(async () => ({ done: false, value: block }), 500),
  });
  assertError(error, ApiError, "api_error");
  assert.equal(error.body.length, 65_536);
});

test("a response without a stream is read as a whole", async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(retrieved()));
  const polyfill = {
    status: 200,
    headers: new Headers(),
    body: {},
    arrayBuffer: async () => bytes.buffer,
  };
  assert.deepEqual((await ask([], get, { fetch: () => polyfill })).value, retrieved());
});

test("a `fetch` that ignores signals still ends in time", async () => {
  const deaf = () => new Promise(() => {});
  assertError(
    (await ask([], get, { ...never, fetch: deaf, timeoutMs: 50 })).error,
    TimeoutError,
    "timeout",
  );
  const { error } = await ask(
    [],
    (client) => client.getPledgeTransaction(ID, { signal: AbortSignal.timeout(50) }),
    { fetch: deaf },
  );
  assert.equal(error.name, "TimeoutError");
});

test("a hundred calls at once each get their own answer", async (t) => {
  const service = await served(t, (response, { path }) =>
    json(retrieved({ reference: path.split("/").at(-1) }))(response),
  );
  const client = new PledgeClient({ apiKey: KEY, baseUrl: service.baseUrl });
  const ids = Array.from({ length: 100 }, (_, index) => `ptran_${index}`);
  const all = await Promise.all(ids.map((id) => client.getPledgeTransaction(id)));
  assert.deepEqual(
    all.map(({ reference }) => reference),
    ids,
  );
});

test("a thousand pledges come back whole", async () => {
  const pledges = Array.from({ length: 1_000 }, (_, index) => ({
    ...created().pledges[0],
    id: `p_${index}`,
  }));
  const { value } = await ask(json(created({ pledges })), create);
  assert.equal(value.pledges.length, 1_000);
});

test("nothing keeps a process alive when its calls have ended", async (t) => {
  const service = await served(t, json(retrieved()));
  const script = `
    import { PledgeClient } from "impact-pledge";
    const client = new PledgeClient({ apiKey: "${KEY}", baseUrl: "${service.baseUrl}", timeoutMs: 60_000 });
    const { signal } = new AbortController();
    await client.getPledgeTransaction("${ID}", { signal });
    const silent = new PledgeClient({ apiKey: "${KEY}", baseUrl: "${service.baseUrl}", fetch: () => new Promise(() => {}) });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    await silent.getPledgeTransaction("${ID}", { signal: controller.signal }).catch(() => console.log("ended"));
    process.on("exit", () => console.log("active", process.getActiveResourcesInfo().filter((name) => name === "Timeout").length));
  `;
  const started = Date.now();
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  const [code] = await once(child, "close");
  assert.deepEqual([code, output], [0, "ended\nactive 0\n"]);
  assert.ok(Date.now() - started < 8_000);
});
