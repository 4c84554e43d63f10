/**
 * Plays recorded seeds on the built Worker, and compares all that it does with what the native
 * service did.
 */
import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { bytesOf, simulatedRequest, textOf, valueStream } from "./host.mjs";

/**
 * Plays a seed, and throws at the first difference.
 * @param {{seed: number, events: object[]}} recording a line of the native run's
 * @param {(imports: object) => Function} startIsolate see {@link loadWorker}
 * @returns {Promise<Record<string, number>>} how often each kind of event came, such as `answer 200` and `get hung`
 */
export async function replay({ seed, events }, startIsolate) {
  const player = new Player(events, startIsolate);
  for (const event of events)
    await player.play(event).catch((error) => Promise.reject(report(seed, event, error)));
  const left = [...player.drawn.values()].flat();
  if (left.length > 0) throw report(seed, left[0], difference("randomness", left[0].details, null));
  return player.counts;
}

function report(seed, { at, request, event }, error) {
  const where = `seed ${seed}, request #${request} at ${at} ms, ${event}`;
  return new Error(`${where}: ${error.message}\nSEED=${seed} npm run simulate plays it again`, {
    cause: error,
  });
}

const show = (value) => JSON.stringify(value)?.slice(0, 4_000); // a body may be a megabyte
const difference = (what, native, wasm) =>
  new Error(`the Worker's ${what} is another\n  native: ${show(native)}\n  wasm:   ${show(wasm)}`);
/** The native service gives an answer the ID of its log line, `recover.js` all others the platform's ID of the request. */
const withRequestId = (headers, ray) =>
  [...headers.filter(([name]) => name !== "x-request-id"), ["x-request-id", ray]].sort(
    ([a], [b]) => (a < b ? -1 : 1),
  );
/** @param {any} object @param {...string} members */
const pick = (object, ...members) =>
  object && Object.fromEntries(members.map((member) => [member, object[member]]));

class Player {
  /** @type {Record<string, number>} */
  counts = {};
  /** The first difference that a callback has found. @type {Error | undefined} */
  failure;
  isolates = new Map();
  exchanges = new Map();
  timerCount = 0;

  constructor(events, startIsolate) {
    this.startIsolate = startIsolate;
    this.drawn = Map.groupBy(
      events.filter(({ event }) => event === "random"),
      ({ details }) => details.isolate,
    );
  }

  /** Lets one thing happen, and all that follows from it until the Worker waits again. */
  async play({ event, at, request, details }) {
    if (event === "random") return; // for the Worker to ask for
    if (event === "request") this.exchanges.set(request, this.exchange(details));
    const exchange = this.exchanges.get(request);
    if (!exchange) return; // it was cut before the service saw it
    this.current = exchange; // nothing else runs in this turn
    exchange.isolate.now = at;
    const overdue = [...exchange.timers.values()].find(({ due }) => due < at);
    if (overdue) throw difference("deadline", `later than ${at} ms`, `${overdue.due} ms`);
    await this[event](exchange, details);
    if (this.failure) throw this.failure;
  }

  // ---- What happens to a request --------------------------------------------------------------------

  exchange(request) {
    const isolate = this.isolates.get(request.isolate) ?? this.isolate(request);
    return { isolate, made: [], calls: [], timers: new Map(), answer: null, log: null };
  }

  async request(exchange, details) {
    exchange.ray = details.headers.find(([name]) => name === "cf-ray")[1];
    const request = simulatedRequest(details, () => this.wait("body", "", ""));
    const { fetch, env } = exchange.isolate;
    const receive = async (response) => {
      exchange.answer = {
        status: response.status,
        headers: [...response.headers],
        log: exchange.log,
      };
      exchange.answer.body = await response.arrayBuffer().then(textOf, () => null);
    };
    fetch(request, env, { waitUntil() {} })
      .then(receive)
      .catch((error) => (this.failure ??= error));
    await turn();
  }

  /** The native service called something: the Worker has done the same. */
  call(exchange, { call, input }) {
    const index = exchange.made.findIndex((made) => isDeepStrictEqual(made.input, input));
    if (index < 0)
      throw difference(
        "call",
        input,
        exchange.made.map((made) => made.input),
      );
    [exchange.calls[call]] = exchange.made.splice(index, 1);
  }

  /** The recording says how a call ended. */
  async end(exchange, { call, outcome }) {
    this.allIsCompared(exchange);
    const { input, end } = exchange.calls[call];
    if (exchange.answer?.body !== undefined)
      throw difference("time of the answer", `after the end of ${show(input)}`, "before");
    this.count(`${input[0]} ${outcome === "hung" || outcome === "error" ? outcome : "ended"}`);
    if (outcome === "hung") this.expire(exchange);
    else end(outcome);
    await turn();
  }

  /** The time of a call is up: the Worker's own timer has to end it. */
  expire(exchange) {
    if (exchange.answer) {
      exchange.answer.body = null; // the caller waits for its body no longer
      return;
    }
    const { timers, isolate } = exchange;
    const due = [...timers].filter(([, timer]) => timer.due === isolate.now);
    if (due.length === 0)
      throw difference(
        "deadline",
        isolate.now,
        [...timers.values()].map(({ due }) => due),
      );
    for (const [number] of due) timers.delete(number);
    for (const [, { callback }] of due) callback();
  }

  /** @param {any} exchange @param {any} native the answer of the native run */
  async answer(exchange, { headers, ...native }) {
    const expected = { ...native, headers: withRequestId(headers, exchange.ray) };
    const refused = exchange.made.findIndex(({ input }) => input[0] === "body"); // a body that the Worker drains
    if (refused >= 0) exchange.made.splice(refused, 1)[0].end({ ok: null });
    await turn();
    this.allIsCompared(exchange);
    const others = Object.keys(expected).filter(
      (member) => !isDeepStrictEqual(exchange.answer?.[member], expected[member]),
    );
    if (others.length > 0)
      throw difference(
        "answer",
        pick(expected, "status", ...others),
        pick(exchange.answer, "status", ...others),
      );
    this.count("answer");
    this.count(`answer ${expected.status}`);
  }

  /** The platform drops a request: nothing that it waits for comes. */
  cut(exchange) {
    this.allIsCompared(exchange);
    exchange.timers.clear();
    this.count("cut");
  }

  allIsCompared({ made }) {
    if (made.length > 0)
      throw difference(
        "call",
        null,
        made.map(({ input }) => input),
      );
  }

  count(kind) {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }

  // ---- What an isolate imports ----------------------------------------------------------------------

  isolate({ isolate: number, epoch }) {
    const isolate = { now: 0, env: { PLEDGES: this.namespace() } };
    const drawn = this.drawn.get(number) ?? [];
    isolate.fetch = this.startIsolate({
      Date: { now: () => epoch + isolate.now },
      crypto: { getRandomValues: (bytes) => this.draw(drawn.shift(), bytes) },
      console: { error: (text) => this.log(text), log: (text) => this.log(text) },
      setTimeout: (callback, milliseconds) => this.setTimeout(callback, isolate.now + milliseconds),
      clearTimeout: (timer) => this.current.timers.delete(timer),
    });
    this.isolates.set(number, isolate);
    return isolate;
  }

  namespace() {
    return {
      getWithMetadata: async (name, options) => {
        const metadata = await this.wait("get", name, JSON.stringify(options));
        if (metadata === null) return { value: null, metadata: null };
        return {
          value: valueStream(() => this.wait("read", name, "")),
          metadata: JSON.parse(metadata),
        };
      },
      put: (name, value, options) =>
        this.wait("put", name, `${JSON.stringify(options)} ${textOf(value)}`),
    };
  }

  /** Begins a call, which ends when the recording says so, or never. */
  wait(...input) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const end = (outcome) =>
      outcome === "error" ? reject(new Error("it was made to fail")) : resolve(outcome.ok);
    this.current.made.push({ input, end });
    return promise;
  }

  setTimeout(callback, due) {
    this.timerCount += 1;
    this.current.timers.set(this.timerCount, { callback, due });
    return this.timerCount;
  }

  draw(drawn, bytes) {
    const text = drawn?.details.bytes ?? "";
    if (text.length === bytes.length) bytes.set(bytesOf(text));
    else this.failure ??= difference("randomness", text.length, bytes.length);
  }

  log(text) {
    const { status, kv } = JSON.parse(text);
    if (status) this.current.log = text;
    else if (!kv) this.failure ??= new Error(`the Worker logs: ${text}`);
  }
}
