/** Tests which calls the `PledgeClient` of the packed package retries, and when. */
import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import {
  answer,
  broken,
  busy,
  clientOf,
  create,
  failed,
  get,
  pkg,
  refused,
  silent,
} from "./client.mjs";
import { created, retrieved } from "./mock-server.mjs";

const { PledgeError } = pkg;

// ---- Retries ---------------------------------------------------------------------------------------

const safe = { retryCreates: true };
const off = { retryCreates: false };
const more = { maxRetries: 3 };
const proxy = answer("<html>", { status: 503, headers: { "retry-after": "0" } });
const slow = { timeoutMs: 30, maxRetries: 1 };
const withKey = (client) => create(client, { idempotencyKey: "order-1" });

/**
 * Retries by name. Each row has the failures before a valid answer, the call, the client's options, the
 * expected number of requests, and whether the call must succeed.
 */
const REPEATS = {
  "a get after each status that may pass": [
    [busy(408), busy(429), busy(599)],
    get,
    { maxRetries: 3 },
    4,
    true,
  ],
  "a get after a connection that broke": [[broken], get, {}, 2, true],
  "a get until the third time, by itself": [Array(3).fill(busy()), get, {}, 3, false],
  "a get as often as the client may": [Array(9).fill(busy()), get, { maxRetries: 4 }, 5, false],
  "a get as often as the call may": [
    Array(9).fill(busy()),
    (client) => get(client, { maxRetries: 1 }),
    { maxRetries: 5 },
    2,
    false,
  ],
  "a get after a refusal": [[busy(404)], get, {}, 1, false],
  "a get after a time out, each with its own time": [[silent, silent], get, slow, 2, false],
  "a get whose wait is left to the caller": [[busy(429, "61")], get, {}, 1, false],
  "a get that the deadline leaves no time for": [
    [busy(503, "30")],
    get,
    { deadlineMs: 5_000 },
    1,
    false,
  ],
  "a create that was certainly not recorded": [
    [busy(429), refused, busy(503)],
    create,
    more,
    4,
    true,
  ],
  "no create whose connection broke": [[broken], create, {}, 1, false],
  "no create after a status that leaves it open": [[busy(500)], create, {}, 1, false],
  "no create after a 503 of a proxy": [[proxy], create, {}, 1, false],
  "no create that timed out": [[silent], create, slow, 1, false],
  "a create with a key of the caller's": [[broken, busy(500)], withKey, {}, 3, true],
  "a create with retryCreates": [[broken, busy()], create, safe, 3, true],
  "a create with retryCreates and a key": [[busy(429)], withKey, safe, 2, true],
  "no create without retryCreates": [[busy(429)], create, off, 1, false],
  "no create with a key, but without retryCreates": [[busy(429)], withKey, off, 1, false],
  "a get without retryCreates": [[busy(429)], get, off, 2, true],
};

for (const [name, [failures, call, options, count, isGood]] of Object.entries(REPEATS)) {
  test(`what is retried: ${name}`, async () => {
    const fine = (_url, { method }) => answer(method === "POST" ? created() : retrieved())();
    const { client, seen } = clientOf([...failures, fine], options);
    const ended = await call(client).then(
      (data) => ({ data }),
      (error) => ({ error }),
    );
    assert.equal(seen.length, count);
    assert.equal(ended.error === undefined, isGood, String(ended.error));
    if (isGood) assert.equal(pkg.responseOf(ended.data).retries, count - 1);
    else assert.ok(ended.error instanceof PledgeError);
    const keys = new Set(seen.map(({ headers }) => headers["idempotency-key"]));
    assert.equal(keys.size, 1);
    const [key] = keys;
    const own = options.retryCreates ? /^[0-9a-f]{32}$/ : /^undefined$/;
    assert.match(String(key), call === withKey ? /^"?order-1"?$/ : own);
    const shown = ended.error ?? pkg.responseOf(ended.data);
    assert.equal(shown.idempotencyKey, call === withKey ? "order-1" : key);
    assert.equal(new Set(seen.map(({ body }) => body)).size, 1);
  });
}

/**
 * Create requests that are not retried. Each row has the failure, the client's options, and the expected
 * error message. If an option would allow a retry, the message names this option.
 */
const NOT_REPEATED = [
  [broken, {}, /may have been recorded; it was not retried: set `retryCreates`, or pass an `i.*`$/],
  [busy(500), {}, /500: Busy; .*; it was not retried: set `retryCreates`, or pass an `i.*`$/],
  [silent, { timeoutMs: 30 }, /30 ms; .* recorded; it was not retried: set `retryCreates`, .*$/],
  [busy(429), off, /429: Busy; it was not retried: `retryCreates` is `false`$/],
  [refused, off, /was not sent; it was not retried: `retryCreates` is `false`$/],
  [silent, { deadlineMs: 30 }, /may have been recorded$/],
  [busy(500, "61"), {}, /address was [^;]*; the transaction may have been recorded$/],
  [busy(400), {}, /400: Busy$/],
  [busy(429), { ...off, maxRetries: 0 }, /429: Busy$/],
];

test("an error names the option that would have retried the create", async () => {
  for (const [failure, options, message] of NOT_REPEATED) {
    const { client, seen } = clientOf(failure, options);
    assert.match((await failed(create(client))).message, message);
    assert.equal(seen.length, 1);
  }
});

test("each create with retryCreates has its own idempotency key", async () => {
  const { client, seen } = clientOf(answer(created()), safe);
  await create(client);
  await create(client);
  assert.notEqual(seen[0].headers["idempotency-key"], seen[1].headers["idempotency-key"]);
});

/** The headers of a service whose clock is decades behind. */
const LATE = { date: "Sun, 06 Nov 1994 08:49:37 GMT" };

const inSeconds = (seconds) => () => new Date(Date.now() + seconds * 1_000).toUTCString();

/**
 * Values of `Retry-After`, each with the shortest and longest expected wait in milliseconds, and other headers.
 * `tests/native/retry.rs` has further cases.
 */
const WAITS = [
  ["7", 7_000, 7_000],
  [inSeconds(30), 30_000, 30_000],
  [inSeconds(-30), 0, 0],
  ["Sun, 06 Nov 1994 08:49:47 GMT", 10_000, 10_000, LATE],
  ["7", 7_000, 7_000, LATE],
  [inSeconds(30), 25_000, 30_000, { date: "now" }],
  [null, 250, 500],
  ["soon", 250, 500],
  ["Sun, 6 Nov 1994 08:49:37 GMT", 250, 500],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 250, 500],
  ["2020-01-01", 250, 500],
];

test("a wait is as long as Retry-After says, as seconds or as a date", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 31) });
  for (const [header, least, most, more = {}] of WAITS) {
    const retryAfter = typeof header === "function" ? header() : header;
    const stop = new AbortController();
    const waits = [];
    const onRetry = ({ waitMs }) => {
      waits.push(waitMs);
      stop.abort();
    };
    const headers = retryAfter ? { ...more, "retry-after": retryAfter } : more;
    const { client, seen } = clientOf(answer({ error: "Busy" }, { status: 503, headers }), {
      onRetry,
    });
    await failed(get(client, { signal: stop.signal }));
    assert.deepEqual([waits.length, seen.length], [1, 1]);
    assert.ok(waits[0] >= least && waits[0] <= most, `${retryAfter}: ${waits[0]}`);
  }
});

test("a retry is sent only after its wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, seen } = clientOf([busy(503, "7"), answer(retrieved())]);
  const call = get(client);
  await turn();
  t.mock.timers.tick(6_999);
  await turn();
  assert.equal(seen.length, 1);
  t.mock.timers.tick(1);
  assert.deepEqual(await call, retrieved());
});
