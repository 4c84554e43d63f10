/**
 * The rules that every history of requests must keep, whatever failed: the promises of `docs/operating.md`. Our KV is
 * consistent, and every write and fault is known; of a deployed one only the records that it has in the end.
 */
import { isDeepStrictEqual } from "node:util";

/** How a fault may show in the answer; `lost`: the connection ends; `spoilt`: a get passes on what KV sent. */
const SHOWS = {
  ErrorBefore: [503],
  ErrorAfter: [503],
  Hang: [503],
  HangKept: [503],
  RateLimited: [503],
  DamagedMetadata: [500],
  DamagedValue: [500, "spoilt"],
  BrokenValue: [503, "lost", "spoilt"],
  HangingValue: [503, "lost", "spoilt"],
  Slow: [],
};
const PRICES_IN_CENTS = { tree: 50, "plastic-kg": 125 };
const GROWTH_BYTES = 80 * 1024 * 1024; // of WebAssembly, by 64 requests at once
const ISOLATE_BYTES = 128_000_000;
const BUSY = /holds too many requests at once/;
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
      found.push({
        rule,
        number: null,
        problem: `an answer or a record has another shape: ${error.message}`,
      });
    }
  }
  return found;
}

/** A history with what the rules ask for. */
class Facts {
  /** @param {import("./run.mjs").History} history */
  constructor({ exchanges, kills, writes, faults, memory }) {
    this.exchanges = exchanges;
    this.kills = kills;
    this.writes = writes;
    this.faults = faults;
    this.memory = memory;
    /** @type {Map<number | null, Exchange>} */
    this.byNumber = new Map(exchanges.map((exchange) => [exchange.ask.number, exchange]));
    this.creates = exchanges.filter(({ ask }) => ask.payload);
    this.acknowledged = this.creates
      .filter(({ outcome }) => outcome.status === 200)
      .map((exchange) => ({ ...exchange, json: jsonOf(exchange, exchange.outcome.text) }))
      .filter(({ json }) => json);
    this.firsts = Map.groupBy(this.acknowledged, ({ ask }) => identityOf(ask));
    this.named = Map.groupBy(
      this.creates.filter(({ ask }) => ask.idempotencyKey),
      ({ ask }) => nameOf(ask),
    );
    this.records = writes
      .filter(({ name }) => name.startsWith("transaction:"))
      .map((write) => ({ ...write, json: jsonOf(write, write.value) }));
    this.kept = Map.groupBy(this.records, ({ name }) => name.slice("transaction:".length));
    this.disturbances = Map.groupBy(
      exchanges.filter(({ ask }) => ["trap", "crowd"].includes(ask.kind)),
      ({ ask }) => ask.kind,
    );
  }

  /** The statuses besides the expected ones that an exchange may end with. */
  excuses({ ask, begun, ended }) {
    const overlaps = (event) => event.begun <= ended && begun <= event.ended;
    const during = (kind) => this.disturbances.get(kind)?.some(overlaps);
    const shown = (this.faults.get(ask.number) ?? []).flatMap((fault) => SHOWS[fault]);
    return [
      ...shown,
      ...(during("trap") ? [500] : []),
      ...(during("crowd") ? ["busy"] : []),
      ...(this.kills.some(overlaps) || isCut(ask) ? ["lost"] : []),
    ];
  }

  /** The creates that have the same idempotency key in the same scope. @param {Ask} ask */
  ofKey = (ask) => this.named.get(nameOf(ask)) ?? [];

  isSpoilt = (exchange) => this.excuses(exchange).includes("spoilt");

  /** Whether one had ended when the other began. */
  precedes = (first, { begun }) => first.ended < begun;

  /** The first acknowledgement of the same create that precedes this one. */
  earlier = (exchange) =>
    this.firsts.get(identityOf(exchange.ask))?.find((first) => this.precedes(first, exchange));
}

/** @param {Ask} ask */
const isCut = ({ way }) => way === "aborted" || way === "hangs up";
const isGet = ({ kind }) => kind === "get" || kind === "foreign";
const isPage = ({ kind }) => kind === "timeline" || kind === "wrongTimeline";
/** An idempotency key in its scope. @param {Ask} ask */
const nameOf = ({ caller, idempotencyKey }) => JSON.stringify([caller?.scope, idempotencyKey]);
/**
 * The identity of a create: equal ones are one transaction. No two payloads have one reference.
 * @param {Ask} ask
 */
const identityOf = ({ number, caller, idempotencyKey, payload }) =>
  idempotencyKey
    ? JSON.stringify([caller?.key, caller?.scope, idempotencyKey, payload?.reference])
    : String(number);

/** Undefined for what is no JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of an exchange or a write, parsed once however many rules and runs ask. */
const jsons = new WeakMap();

function jsonOf(owner, text) {
  if (!jsons.has(owner)) jsons.set(owner, parsed(text));
  return jsons.get(owner);
}

/** The answer to a get after this answer to a create (§4.2). @returns {any} */
function retrieved({ id: _, recipient, pledges, ...rest }) {
  return {
    ...rest,
    pledges: pledges.map(({ detail, ...pledge }) => ({ ...pledge, details: [detail], recipient })),
  };
}

/** In whole numbers: amounts have two decimals. */
function chargeOf({ pledges }) {
  const parts = pledges.map(
    ({ impact: { amount, offeringId } }) =>
      Math.round(amount * 100) * (PRICES_IN_CENTS[offeringId] ?? 0),
  );
  const cents = Math.floor((parts.reduce((sum, part) => sum + part) + 50) / 100);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}

const DETAIL = ["name", "description", "image", "externalUrl", "externalId"];

/** The part of a record that the request determines. */
function ofRequest(record) {
  const detailOf = (detail) =>
    Object.fromEntries(DETAIL.map((name) => [name, detail?.[name] ?? null]));
  const pledges = record.pledges.map(({ impact, details: [detail], recipient }) => ({
    impact,
    detail: detailOf(detail),
    recipient,
  }));
  return {
    reference: record.reference,
    isLive: record.isLive,
    charge: record.charge,
    phrase: record.trigger.phrase,
    pledges,
    notifications: record.notifications,
  };
}

/** @param {any} ask of a create */
function asRequested({ payload, caller }) {
  const recipient = { firstName: null, name: null, ...payload.recipient };
  const details = payload.pledges.map(({ impact, detail }) => ({
    impact,
    details: [detail],
    recipient,
  }));
  const notifications = (payload.notifications ?? []).map((type) => ({ type, status: "Pending" }));
  const charge = { amount: chargeOf(payload), currencyCode: "USD", paidAt: null };
  return ofRequest({
    reference: payload.reference,
    isLive: caller.scope.startsWith("live "),
    charge,
    trigger: { phrase: payload.trigger?.phrase ?? null },
    pledges: details,
    notifications,
  });
}

/**
 * Without what a repeat that did not see the first create makes anew; prices stay the same here.
 */
const undated = ({ createdAt: _, timelineUrl, ...rest }) => ({
  ...rest,
  timeline: timelineUrl.replace(ORIGIN, ""),
});
const editKeyOf = ({ timelineUrl }) => timelineUrl.split("edit_key=")[1];

/**
 * Whether a request that its caller broke off ended as such requests do.
 * @param {Exchange} exchange
 */
const isCutShort = ({ ask, outcome: { status, error } }) =>
  isCut(ask) && error !== "no answer" && [400, undefined].includes(status);

/**
 * How an unexpected outcome shows, in the words of {@link SHOWS}.
 * @param {import("./client.mjs").Outcome} outcome
 */
function symptomOf({ status, error, text = "" }) {
  if (error === "no answer") return error;
  if (error) return "lost";
  return status === 503 && BUSY.test(text) ? "busy" : status;
}

/**
 * Whether two creates of one idempotency key have one payload; no two payloads have one reference.
 */
const isSamePayload = (one, other) => one.ask.payload?.reference === other.ask.payload?.reference;

/**
 * Checks a create that was refused because its idempotency key has another payload.
 * @param {Facts} facts
 * @param {Exchange} exchange
 * @returns {Findings}
 */
function* wrongRefusals(facts, exchange) {
  const { ask, ended } = exchange;
  const own = facts.earlier(exchange);
  const writers = facts.kept.get(own?.json.id)?.map(({ number }) => facts.byNumber.get(number));
  const isReplay =
    own?.outcome.replayed &&
    writers?.every((writer) => writer && identityOf(writer.ask) !== identityOf(ask));
  if (own && !isReplay) yield [ask.number, `refused, but ${own.ask.number} was answered`];
  const others = facts.ofKey(ask).filter((other) => !isSamePayload(other, exchange));
  if (!others.some(({ begun }) => begun <= ended)) yield [ask.number, "refused without a reason"];
}

/**
 * Checks a create that was answered.
 * @param {Facts} facts
 * @param {Exchange} exchange
 * @returns {Findings}
 */
function* wrongAcceptances(facts, exchange) {
  const { ask } = exchange;
  const all = facts.ofKey(ask);
  const taken = all.find(
    (other) =>
      !isSamePayload(other, exchange) &&
      other.outcome.status === 200 &&
      facts.precedes(other, exchange),
  );
  if (!taken) return;
  if (!all.some((other) => isSamePayload(other, exchange) && other.begun <= taken.ended))
    yield [ask.number, `answered, but ${taken.ask.number} has the key`];
}

/**
 * Each gives the number of a request and what is wrong with it.
 * @type {Record<string, (facts: Facts) => Findings>}
 */
const RULES = {
  *"a status is the expected one, or shows what was done to this request"(facts) {
    for (const exchange of facts.exchanges) {
      const { ask, outcome } = exchange;
      const { status, error, text } = outcome;
      if (ask.expect.includes(status) || isCutShort(exchange)) continue;
      if (facts.excuses(exchange).includes(symptomOf(outcome))) continue;
      const fault = facts.faults.get(ask.number) ?? "no fault";
      yield [ask.number, `${ask.kind}: ${status ?? error} for ${fault}: ${text?.slice(0, 200)}`];
    }
  },

  *"an answer is JSON"(facts) {
    for (const exchange of facts.exchanges.filter(
      ({ ask, outcome }) => outcome.status && !isPage(ask),
    )) {
      const { ask, outcome } = exchange;
      const isJson = outcome.type === "application/json" && parsed(outcome.text);
      if (!isJson && !(isGet(ask) && facts.isSpoilt(exchange)))
        yield [ask.number, `${outcome.type}: ${outcome.text?.slice(0, 100)}`];
    }
  },

  *"an answer has the content of its request and the exact charge"({ acknowledged }) {
    for (const { ask, json, begun, ended, outcome } of acknowledged) {
      if (!isDeepStrictEqual(ofRequest(retrieved(json)), asRequested(ask)))
        yield [ask.number, outcome.text];
      const createdAt = Date.parse(json.createdAt);
      if (!outcome.replayed && !(begun <= createdAt && createdAt <= ended))
        yield [ask.number, `${json.createdAt} is not when it was made`];
    }
  },

  *"what is acknowledged was kept before"({ acknowledged, kept, writes }) {
    const replays = new Set(
      writes.filter(({ name }) => name.startsWith("idempotency:")).map(({ number }) => number),
    );
    for (const { ask, json, ended, outcome } of acknowledged) {
      const same = (kept.get(json.id) ?? []).filter(
        ({ at, json: record }) => at <= ended && isDeepStrictEqual(record, retrieved(json)),
      );
      const isOwn =
        same.some(({ number }) => number === ask.number) &&
        (!ask.idempotencyKey || replays.has(ask.number));
      if (!(outcome.replayed ? same.length > 0 : isOwn))
        yield [ask.number, `${json.id} was not kept`];
    }
  },

  *"what is acknowledged can be read in the end, with its content"({
    acknowledged,
    exchanges,
    kept,
  }) {
    const reads = new Map(
      exchanges
        .filter(({ ask }) => ask.isFinal && ask.kind === "get")
        .map(({ ask, outcome }) => [ask.target?.id, outcome]),
    );
    for (const { ask, json } of acknowledged) {
      const { status, text } = reads.get(json.id) ?? {};
      const isLast = status === 200 && text === kept.get(json.id)?.at(-1)?.value;
      if (!isLast || !isDeepStrictEqual(undated(parsed(text)), undated(retrieved(json))))
        yield [ask.number, `${json.id}: ${status}: ${text}`];
    }
  },

  *"a get shows a record as it was written"(facts) {
    for (const exchange of facts.exchanges.filter(
      ({ ask, outcome }) => isGet(ask) && outcome.status === 200 && !facts.isSpoilt({ ask }),
    )) {
      const { ask, ended, outcome } = exchange;
      if (
        !facts.kept
          .get(ask.target?.id ?? "")
          ?.some(({ value, at }) => at <= ended && value === outcome.text)
      )
        yield [ask.number, outcome.text];
    }
  },

  *"a record belongs to a create that was sent, and has its content"({
    records,
    byNumber,
    writes,
  }) {
    for (const { number, json, value } of records) {
      const ask = byNumber.get(number)?.ask;
      if (!ask?.payload) yield [number, `recorded for ${ask?.kind}: ${value}`];
      else if (!isDeepStrictEqual(ofRequest(json), asRequested(ask)))
        yield [number, `recorded is ${value}`];
    }
    for (const { name, number } of writes)
      if (number === null && !/^((key|catalogue|profile):|secret$)/.test(name))
        yield [number, `${name} belongs to no request`];
  },

  *"one create has one record, and no ID or edit key is another's"({ records, byNumber }) {
    const [owners, ids] = [new Map(), new Map()];
    for (const { name, number, json } of records) {
      const ask = byNumber.get(number)?.ask;
      if (!ask?.payload) continue;
      const identity = identityOf(ask);
      if (ids.has(identity) && ids.get(identity) !== name)
        yield [number, `${name} and ${ids.get(identity)} are one create`];
      ids.set(identity, name);
      for (const [place, part] of [
        name,
        editKeyOf(json),
        ...json.pledges.map(({ id }) => id),
      ].entries()) {
        const owner = `${place} ${identity}`;
        if (owners.has(part) && owners.get(part) !== owner)
          yield [number, `${part} is of ${owners.get(part)}, too`];
        owners.set(part, owner);
      }
    }
  },

  *"an answer names the record of its own create, or of the same create by another API key"({
    acknowledged,
    kept,
    byNumber,
  }) {
    for (const { ask, json, outcome } of acknowledged) {
      for (const { number } of kept.get(json.id) ?? []) {
        const writer = byNumber.get(number)?.ask;
        const isOwn = writer?.payload && identityOf(writer) === identityOf(ask);
        const isRepeat =
          outcome.replayed &&
          writer !== undefined &&
          writer.payload?.reference === ask.payload?.reference &&
          nameOf(writer) === nameOf(ask);
        if (!isOwn && !isRepeat) yield [ask.number, `${json.id} was written by ${number}`];
      }
    }
  },

  *"what is acknowledged is not written once more"(facts) {
    for (const { number, name } of facts.writes) {
      const exchange = facts.byNumber.get(number);
      const first = exchange?.ask.payload && facts.earlier(exchange);
      if (first) yield [number, `${name}, after ${first.ask.number} was answered`];
    }
  },

  *"a repeat is the first answer, byte for byte"(facts) {
    for (const exchange of facts.acknowledged) {
      const first = facts.earlier(exchange);
      if (!first) continue;
      const { ask, outcome, json } = exchange;
      const writers = new Set(facts.kept.get(json.id)?.map(({ number }) => number));
      const raced = writers.size > 1; // the answer may have another time
      const isSame = raced
        ? isDeepStrictEqual(undated(json), undated(first.json))
        : outcome.text === first.outcome.text;
      if (!isSame || !outcome.replayed)
        yield [ask.number, `${outcome.text}, and ${first.ask.number}: ${first.outcome.text}`];
    }
  },

  *"another payload is refused once the first is acknowledged, and only then"(facts) {
    for (const exchange of facts.creates.filter(({ ask }) => ask.idempotencyKey)) {
      if (exchange.outcome.status === 422) yield* wrongRefusals(facts, exchange);
      if (exchange.outcome.status === 200) yield* wrongAcceptances(facts, exchange);
    }
  },

  *"a timeline shows no e-mail address"({ exchanges }) {
    for (const { ask, outcome } of exchanges)
      if (isPage(ask) && ask.target && outcome.text?.includes(ask.target.email))
        yield [ask.number, ask.target.email];
  },

  *"memory stays within the budget of docs/operating.md"({ memory }) {
    if (!memory) return;
    const { idle, peak } = /** @type {Record<string, any>} */ (memory);
    if (peak.wasm - idle.wasm > GROWTH_BYTES || peak.wasm + peak.heap > ISOLATE_BYTES)
      yield [null, JSON.stringify(memory)];
  },
};
