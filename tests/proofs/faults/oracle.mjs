/**
 * The rules that must hold for every history of requests, whatever failed. They check the promises of the
 * service that faults of the platform could break. `tests/proofs/simulation` tests the promises that depend
 * only on the service's code. In the histories here, KV is consistent, and every write and fault is known.
 */
import { isDeepStrictEqual } from "node:util";

/**
 * For each fault: the outcomes that the fault may cause, as HTTP statuses or words. `lost`: the connection
 * ends without an answer. `spoilt`: a get request returns damaged bytes from KV.
 */
const SHOWS = {
  ErrorBefore: [503],
  ErrorAfter: [503],
  Hang: [503],
  HangKept: [503],
  RateLimited: [503],
  DamagedMetadata: [500],
  DamagedValue: [500, 503, "spoilt"], // 503 if the prices are damaged: nothing was recorded
  BrokenValue: [503, "lost", "spoilt"],
  HangingValue: [503, "lost", "spoilt"],
  Slow: [],
};
const GROWTH_BYTES = 80 * 1024 * 1024; // of WebAssembly, by 64 requests at once
const ISOLATE_BYTES = 128_000_000;
const ORIGIN = /^https?:\/\/[^/]+/;

/**
 * @typedef {import("./mix.mjs").Ask} Ask
 * @typedef {import("./run.mjs").Exchange} Exchange
 * @typedef {Iterable<[number | null, string | undefined]>} Findings each the number of a request, and what is wrong with it
 * @typedef {{rule: string, number: number | null, problem: string}} Violation
 */

/** @param {import("./run.mjs").History} history @returns {Violation[]} */
export function violations(history) {
  const facts = new Facts(history);
  const found = [];
  for (const [rule, check] of Object.entries(RULES)) {
    try {
      for (const [number, problem = ""] of check(facts)) found.push({ rule, number, problem });
    } catch (error) {
      found.push({ rule, number: null, problem: `something has another shape: ${error.message}` });
    }
  }
  return found;
}

/** Parses JSON; returns undefined if the text is not JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the identity of a create request. All create requests with equal identities must result in one
 * transaction.
 * @param {Ask} ask
 */
const identityOf = ({ number, caller, idempotencyKey, payload }) =>
  idempotencyKey
    ? JSON.stringify([caller?.scope, idempotencyKey, payload?.reference])
    : String(number);

/** A history of requests, with the queries that the rules use. */
class Facts {
  /** @param {import("./run.mjs").History} history */
  constructor({ exchanges, kills, writes, faults, memory }) {
    this.exchanges = exchanges;
    this.faults = faults;
    this.memory = memory;
    /** @type {Map<number | null, Ask>} */
    this.asks = new Map(exchanges.map(({ ask }) => [ask.number, ask]));
    this.acknowledged = exchanges
      .filter(({ ask, outcome }) => ask.payload && outcome.status === 200)
      .map((exchange) => ({ ...exchange, json: parsed(exchange.outcome.text) }))
      .filter(({ json }) => json);
    this.firsts = Map.groupBy(this.acknowledged, ({ ask }) => identityOf(ask));
    const keyed = exchanges.filter(({ ask }) => ask.idempotencyKey && ask.payload);
    this.payloads = Map.groupBy(keyed, ({ ask }) => ask.idempotencyKey);
    this.records = writes
      .filter(({ name }) => name.startsWith("transaction:"))
      .map((write) => ({ ...write, json: parsed(write.value) }));
    this.kept = Map.groupBy(this.records, ({ name }) => name.slice("transaction:".length));
    const ofKind = (kind) => exchanges.filter(({ ask }) => ask.kind === kind);
    this.disturbances = [
      ...kills.map((kill) => ({ ...kill, shows: "lost" })),
      ...ofKind("trap").map((trap) => ({ ...trap, shows: 500 })),
      ...ofKind("crowd").map((crowd) => ({ ...crowd, shows: "busy" })),
    ];
  }

  /** Returns the outcomes that faults and disturbances allow for an exchange, besides the expected statuses. */
  excuses({ ask, begun, ended }) {
    const beside = this.disturbances.filter(
      (event) => event.begun <= ended && begun <= event.ended,
    );
    return [
      ...(this.faults.get(ask.number) ?? []).flatMap((fault) => SHOWS[fault]),
      ...beside.map(({ shows }) => shows),
      ...(isCut(ask) ? ["lost", 400] : []),
      ...(ask.kind === "huge" ? ["lost"] : []), // refused by its length, and closed while the caller still writes
      ...(this.#hasRival(ask) ? [422] : []),
    ];
  }

  /** Whether another payload was sent with the same idempotency key. */
  #hasRival = ({ idempotencyKey, payload }) =>
    this.payloads
      .get(idempotencyKey)
      ?.some(({ ask }) => ask.payload?.reference !== payload?.reference);

  isSpoilt = (exchange) => this.excuses(exchange).includes("spoilt");

  /**
   * Returns the first exchange that acknowledged the same create request and ended before this exchange
   * began; undefined if there is none.
   */
  earlier = ({ ask, begun }) =>
    this.firsts.get(identityOf(ask))?.find((first) => first.ended < begun);
}

/** @param {Ask} ask */
const isCut = ({ way }) => way === "aborted" || way === "hangs up";

/** Describes an unexpected outcome in the words of {@link SHOWS}. */
function symptomOf({ status, error, text = "" }) {
  if (error) return error === "no answer" ? error : "lost";
  return status === 503 && /holds too many requests at once/.test(text) ? "busy" : status;
}

/**
 * Converts the answer to a create request into the answer that a get request must give (§4.2). @returns {any}
 */
function retrieved({ id: _, recipient, pledges, ...rest }) {
  return {
    ...rest,
    pledges: pledges.map(({ detail, ...pledge }) => ({ ...pledge, details: [detail], recipient })),
  };
}

/**
 * Removes what may differ between two answers about one transaction: the creation time, and the origin of the
 * timeline URL. A repeated create request that does not see the first one generates new values for both.
 */
const undated = ({ createdAt: _, timelineUrl, ...rest }) => ({
  ...rest,
  timeline: timelineUrl.replace(ORIGIN, ""),
});

/**
 * The rules. Each yields the number of a request and what is wrong with it.
 * @type {Record<string, (facts: any) => Findings>}
 */
const RULES = {
  *"each is answered in time and as expected, or as what was done to it shows"(facts) {
    for (const exchange of facts.exchanges) {
      const { ask, outcome } = exchange;
      const { status, error, text } = outcome;
      const excuses = facts.excuses(exchange);
      const isRight = ask.expect.includes(status) || excuses.includes(symptomOf(outcome));
      const isReadable = error || parsed(text);
      if (isRight && (isReadable || excuses.includes("spoilt"))) continue;
      const fault = facts.faults.get(ask.number) ?? "no fault";
      yield [ask.number, `${ask.kind}: ${status ?? error} for ${fault}: ${text?.slice(0, 200)}`];
    }
  },

  *"an answer is of its own request"({ acknowledged }) {
    const shown = ({ reference, pledges }) => [reference, pledges.map(({ impact }) => impact)];
    for (const { ask, json, outcome } of acknowledged) {
      const isOwn =
        isDeepStrictEqual(shown(json), shown(ask.payload)) &&
        json.recipient.email === ask.payload.recipient.email;
      if (!isOwn) yield [ask.number, outcome.text];
    }
  },

  *"what is acknowledged was kept before"({ acknowledged, kept }) {
    for (const { ask, json, ended, outcome } of acknowledged) {
      const record = retrieved(json);
      const isKept = kept
        .get(json.id)
        ?.some(
          (write) =>
            write.at <= ended &&
            (outcome.replayed || write.number === ask.number) &&
            isDeepStrictEqual(write.json, record),
        );
      if (!isKept) yield [ask.number, `${json.id} was not kept`];
    }
  },

  *"what is acknowledged can be read in the end, with its content"(facts) {
    const reads = new Map(
      facts.exchanges
        .filter(({ ask }) => ask.isFinal && ask.kind === "get")
        .map(({ ask, outcome }) => [ask.target, outcome]),
    );
    for (const { ask, json } of facts.acknowledged) {
      const { status, text } = reads.get(json.id) ?? {};
      const isSame =
        status === 200 && isDeepStrictEqual(undated(parsed(text)), undated(retrieved(json)));
      if (!isSame) yield [ask.number, `${json.id}: ${status}: ${text}`];
    }
  },

  *"what is read was written before, byte for byte"(facts) {
    for (const exchange of facts.exchanges) {
      const { ask, ended, outcome } = exchange;
      if (ask.kind !== "get" || outcome.status !== 200 || facts.isSpoilt(exchange)) continue;
      const writes = facts.kept.get(ask.target) ?? [];
      if (!writes.some(({ value, at }) => at <= ended && value === outcome.text))
        yield [ask.number, outcome.text];
    }
  },

  *"a record is of a create that was sent whole, the only one of it, with an ID and an edit key of its own"({
    records,
    asks,
  }) {
    const owners = new Map();
    const names = new Map();
    for (const { number, name, json } of records) {
      const ask = asks.get(number);
      if (ask?.payload?.reference !== json?.reference) {
        yield [number, `${name} was written for ${ask?.kind}`];
        continue;
      }
      const identity = identityOf(ask);
      if ((names.get(identity) ?? name) !== name)
        yield [number, `${name} and ${names.get(identity)} are one create`];
      names.set(identity, name);
      for (const part of [name, json.timelineUrl.split("edit_key=")[1]]) {
        if ((owners.get(part) ?? identity) !== identity)
          yield [number, `${part} is of ${owners.get(part)}, too`];
        owners.set(part, identity);
      }
    }
  },

  *"a repeat is the first answer, byte for byte"(facts) {
    for (const exchange of facts.acknowledged) {
      const first = facts.earlier(exchange);
      if (!first) continue;
      const { ask, outcome, json } = exchange;
      const writers = new Set(facts.kept.get(json.id)?.map(({ number }) => number));
      const isSame =
        writers.size > 1 // they raced: the answer may have another time
          ? isDeepStrictEqual(undated(json), undated(first.json))
          : outcome.text === first.outcome.text;
      if (!isSame || !outcome.replayed)
        yield [ask.number, `${outcome.text}, and ${first.ask.number}: ${first.outcome.text}`];
    }
  },

  *"an error says that nothing was recorded only if nothing was"({ exchanges, records }) {
    const writers = new Set(records.map(({ number }) => number));
    for (const { ask, outcome } of exchanges)
      if (/nothing was recorded/.test(outcome.text ?? "") && writers.has(ask.number))
        yield [ask.number, outcome.text];
  },

  *"memory stays within its budget"({ memory: { idle, peak } }) {
    if (peak.wasm - idle.wasm > GROWTH_BYTES || peak.wasm + peak.heap > ISOLATE_BYTES)
      yield [null, JSON.stringify({ idle, peak })];
  },
};
