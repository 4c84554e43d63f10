/**
 * Tests `PledgeClient` of the packed package: its hooks, what it logs, and the recipe for OpenTelemetry.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { SpanKind, SpanStatusCode, context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { traceHeaders, tracing } from "../../examples/opentelemetry/tracing.js";
import {
  KEY,
  PATH,
  answer,
  assertNoKey,
  broken,
  busy,
  clientOf,
  clientOn,
  create,
  failed,
  get,
  never,
  project,
  sealed,
  silent,
} from "./client.mjs";
import * as server from "./mock-server.mjs";
import { created, retrieved } from "./mock-server.mjs";

// ---- Hooks and logs --------------------------------------------------------------------------------

test("hooks see each attempt, answer and retry, and never the key", async (t) => {
  const events = [];
  const note = (name) => (event) => void events.push([name, event]);
  const hooks = {
    onRequest: note("request"),
    onResponse: note("response"),
    onError: note("error"),
    onRetry: note("retry"),
  };
  const echo = (response, { headers }) => {
    const shown = { "x-echo": headers.authorization, "x-request-id": "r-1" };
    response.writeHead(503, { "retry-after": "0", ...shown }).end();
  };
  const answers = [echo, server.hangUp, server.json(retrieved())];
  const { client } = await clientOn(t, answers, hooks);
  await get(client, { headers: { "x-own": "1" } });
  assert.deepEqual(
    events.map(([name, { attempt, status, reason }]) => [name, attempt, status ?? reason]),
    [
      ["request", 1, undefined],
      ["response", 1, 503],
      ["retry", 2, "the answer was 503"],
      ["request", 2, undefined],
      ["error", 2, "connection_failed"],
      ["retry", 3, "the connection failed"],
      ["request", 3, undefined],
      ["response", 3, 200],
    ],
  );
  const [[, sent], [, answered], [, repeated], , [, lost]] = events;
  for (const { method, url, requestHeaders } of [sent, answered, lost]) {
    assert.equal(method, "GET");
    assert.match(url, /\/v2\/pledge-transaction\/ptran_1$/);
    assert.deepEqual([requestHeaders.authorization, requestHeaders["x-own"]], ["[API key]", "1"]);
  }
  const { requestId, responseHeaders } = answered;
  assert.deepEqual([requestId, responseHeaders["x-echo"]], ["r-1", "Bearer [API key]"]);
  assert.equal(lost.error.message, "fetch failed");
  for (const ms of [answered.durationMs, lost.durationMs, repeated.waitMs])
    assert.ok(Number.isInteger(ms));
  assertNoKey(events);
  const callIds = () => new Set(events.map(([, { callId }]) => callId));
  assert.equal(callIds().size, 1);
  assert.match(sent.callId, /^[0-9a-z]{6,}$/);
  await get(client);
  assert.equal(callIds().size, 2);
});

/**
 * Calls that get no answer. Each row has the expected reason, a `fetch` function, the client's options, the
 * call's options, and the expected message of the event's `error`.
 */
const NO_ANSWER = [
  ["connection_failed", broken, never, {}, "fetch failed"],
  ["timeout", silent, { ...never, timeoutMs: 20 }, {}, undefined],
  ["timeout", () => new Promise(() => {}), { deadlineMs: 20 }, {}, undefined],
  ["aborted", silent, {}, { signal: () => AbortSignal.timeout(20) }, undefined],
];

test("a hook sees each attempt that gets no answer, and no later event of it", async () => {
  for (const [reason, fetch, options, own, error] of NO_ANSWER) {
    const events = [];
    const note = (name) => (event) => events.push([name, event.reason, event.error?.message]);
    const hooks = {
      onRequest: note("request"),
      onResponse: note("response"),
      onError: note("error"),
    };
    const { client } = clientOf(fetch, { ...options, ...hooks });
    await failed(get(client, { signal: own.signal?.() }));
    assert.deepEqual(events, [
      ["request", undefined, undefined],
      ["error", reason, error],
    ]);
  }
  // An answer that arrives too late causes no event, and a call that a hook aborts is not sent.
  const events = [];
  const note = ({ reason, status }) => events.push(reason ?? status);
  const { promise: arrives, resolve: arrive } = Promise.withResolvers();
  const late = () => arrives.then(answer(retrieved()));
  const deaf = clientOf(late, { ...never, timeoutMs: 20, onResponse: note, onError: note });
  await failed(get(deaf.client));
  arrive(undefined);
  await turn();
  const stop = new AbortController();
  const hooks = { onRequest: () => stop.abort("enough"), onResponse: note, onError: note };
  const { client, seen } = clientOf(answer(retrieved()), hooks);
  assert.equal(await failed(get(client, { signal: stop.signal })), "enough");
  assert.deepEqual([events, seen.length], [["timeout", "aborted"], 0]);
});

test("OpenTelemetry: the recipe makes a span of each request, in the trace of the caller", async (t) => {
  const exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  t.after(() => [trace, context, propagation].map((api) => api.disable()));
  const answers = [
    server.json({ error: "Busy" }, { status: 503, headers: { "retry-after": "0" } }),
  ];
  answers.push(server.hangUp, server.json(created()));
  const { client, seen, baseUrl } = await clientOn(t, answers, tracing());
  const order = (span) =>
    create(client, { idempotencyKey: "order-1", headers: traceHeaders() }).finally(() =>
      span.end(),
    );
  await trace.getTracer("shop").startActiveSpan("order", order);
  const [first, second, third, parent] = exporter.getFinishedSpans();
  const { traceId, spanId } = parent.spanContext();
  const url = new URL(`${baseUrl}${PATH}`);
  for (const [index, [span, outcome, isError]] of [
    [first, { "http.response.status_code": 503, "error.type": "503" }, true],
    [second, { "http.request.resend_count": 1, "error.type": "connection_failed" }, true],
    [third, { "http.request.resend_count": 2, "http.response.status_code": 200 }, false],
  ].entries()) {
    assert.deepEqual(
      [span.name, span.kind, span.spanContext().traceId],
      ["POST", SpanKind.CLIENT, traceId],
    );
    assert.equal(span.parentSpanContext.spanId, spanId);
    assert.equal(span.status.code === SpanStatusCode.ERROR, isError);
    assert.deepEqual(span.attributes, {
      "http.request.method": "POST",
      "server.address": "127.0.0.1",
      "server.port": Number(url.port),
      "url.full": url.href,
      ...outcome,
    });
    assert.equal(seen[index].headers.traceparent, `00-${traceId}-${spanId}-01`);
  }
  assert.equal(second.events[0].attributes["exception.message"], "fetch failed");
  assertNoKey([first, second, third].map(({ attributes, events }) => [attributes, events]));
});

test("OpenTelemetry: the recipe prints the spans of an order", async (t) => {
  const folder = mkdtempSync(join(project.folder, "opentelemetry-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const root = join(import.meta.dirname, "..", "..");
  cpSync(join(root, "examples", "opentelemetry"), folder, { recursive: true });
  const installed = (where) => join(where, "node_modules", "@opentelemetry");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(installed(root), installed(folder), "junction");
  const { seen, baseUrl, close } = await server.serve(server.json(created()));
  t.after(close);
  const env = { ...process.env, PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: baseUrl };
  const { stdout } = await promisify(execFile)(process.execPath, ["order.js"], {
    cwd: folder,
    env,
  });
  assert.match(stdout, /name: 'POST'.*timeline\/ptran_1.*name: 'pledge for order-1'/s);
  assert.match(stdout, new RegExp(seen[0].headers.traceparent.split("-")[1]));
});

test("hooks and loggers that misbehave do not affect a call", async () => {
  const bad = [
    sealed,
    async () => sealed(),
    () => new Promise(() => {}),
    (event) => (event.url = 5),
  ];
  const calls = bad.map((hook) => {
    const { client } = clientOf([broken, busy(), answer(retrieved())], {
      onRequest: hook,
      onResponse: hook,
      onError: hook,
      onRetry: hook,
      logger: { error: hook, warn: hook, info: hook, debug: hook },
      logLevel: "debug",
    });
    return get(client);
  });
  assert.deepEqual(await Promise.all(calls), Array(bad.length).fill(retrieved()));
});

const LOGS = {
  undefined: [],
  off: [],
  error: ["error", "error"],
  warn: ["warn", "error", "error"],
  info: ["warn", "error", "error"],
  debug: ["debug", "debug", "warn", "debug", "debug", "error", "error"],
};

test("a log has the lines of its level", async () => {
  for (const [level, expected] of Object.entries(LOGS)) {
    const lines = [];
    const noted = ["error", "warn", "info", "debug"].map((name) => [
      name,
      (...line) => lines.push([name, ...line]),
    ]);
    const { client } = clientOf([busy(503), broken], {
      logger: Object.fromEntries(noted),
      logLevel: level === "undefined" ? undefined : level,
      maxRetries: 1,
    });
    await failed(get(client));
    const [, , { callId } = {}] = lines[0] ?? [];
    assert.equal(typeof callId, expected.length > 0 ? "string" : "undefined");
    assert.ok(lines.every(([, , details]) => details.callId === callId));
    await failed(client.createPledgeTransaction({})); // not sent
    assert.deepEqual(
      lines.map(([name]) => name),
      expected,
    );
    for (const [, line] of lines) assert.match(line, /^impact-pledge: /);
    assertNoKey(lines);
  }
});
