/**
 * Generates the requests to the service. The kind and the payload of each request follow from the seed and the
 * request's number.
 */
import { createHash } from "node:crypto";
import { mulberry32 } from "../../../pkg-templates/testing/random.ts";

const PATH = "/v2/pledge-transaction";
const HUGE = "x".repeat(30_000_000);
const RECENT = 100; // so many requests may still be running

/** The share of each kind of request, per 1,000. */
const SHARES = {
  create: 300,
  keyed: 150,
  repeat: 150,
  other: 30,
  get: 290,
  invalid: 40,
  aborted: 15,
  hangUp: 15,
  slow: 8,
  huge: 2,
};

/** API keys of local development, and the scope that each acts for. */
const CALLERS = [
  { key: "service_sk_test_dev_unit", scope: "test unit_dev" },
  { key: "service_sk_live_dev_unit", scope: "live unit_dev" },
  { key: "service_sk_test_dev_team", scope: "test unit_dev", unit: "unit_dev" },
];

/**
 * @typedef {{key: string, scope: string, unit?: string}} Caller
 *
 * @typedef {object} Ask
 * @property {number} number
 * @property {string} kind
 * @property {(number | undefined)[]} expect the statuses that are right if nothing fails
 * @property {Caller} [caller]
 * @property {string} [idempotencyKey]
 * @property {{reference: string, recipient: object, pledges: any[]}} [payload] the payload of a
 *   create request that may be recorded; every payload has a different reference
 * @property {string} [target] the ID of the record that is read
 * @property {string} [way] how the request is sent, see `client.mjs`
 * @property {boolean} [isFinal] whether the request is sent after the last fault
 */

/** Generates random numbers from a seed. Equal seeds give equal numbers. */
export class Random {
  /** @param {...(number | string | null)} seed */
  constructor(...seed) {
    this.bits = mulberry32(createHash("md5").update(seed.join()).digest().readUInt32LE());
  }

  /** Returns a number from 0 to below 1. */
  next = () => (this.bits() >>> 0) / 2 ** 32;
  below = (bound) => Math.floor(this.next() * bound);
  chance = (share) => this.next() < share;
  pick = (items) => items[this.below(items.length)];
}

export class Mix {
  /** The acknowledged create requests. @type {{id: string, caller: Caller}[]} */
  #known = [];
  #ids = new Set();
  #keyed = [];

  /**
   * Creates a generator of requests.
   * @param {{seed: number, special: Map<number, string>}} how `special`: the kinds of some requests, by the request's
   *   number; the seed decides the kinds of all others
   */
  constructor({ seed, special }) {
    this.seed = seed;
    this.special = special;
  }

  /**
   * Remembers an acknowledged create request, so that later requests can read its transaction.
   * @param {any} ask the create request
   * @param {string} id the transaction's ID in the answer (status 200)
   */
  acknowledge({ caller }, id) {
    if (!this.#ids.has(id)) this.#known.push({ id, caller });
    this.#ids.add(id);
  }

  /** @param {number} number @returns {Ask & {method: string, path: string, headers: object, body?: string}} */
  next(number) {
    const random = new Random(this.seed, number, "ask");
    const wanted = this.special.get(number) ?? drawn(random);
    const needed = this.#neededBy(wanted);
    const kind = needed?.length === 0 ? "keyed" : wanted;
    const earlier = needed?.length ? recentOrAny(random, needed) : undefined;
    const ask = labelled(number, kind, KINDS[kind](random, number, earlier));
    if (["keyed", "hangUp"].includes(kind)) this.#keyed.push(ask);
    return ask;
  }

  #neededBy(kind) {
    if (["repeat", "other"].includes(kind)) return this.#keyed;
    return kind === "get" ? this.#known : undefined;
  }

  /** Yields repeats of `count` create requests with an idempotency key, for the end of the run. */
  *repeats(first, count) {
    const every = Math.max(1, Math.floor(this.#keyed.length / count));
    for (let index = 0; index < this.#keyed.length; index += every) {
      const { caller, payload, idempotencyKey } = this.#keyed[index];
      const ask = create(caller, payload, idempotencyKey);
      yield { ...labelled(first + index, "repeat", ask), isFinal: true };
    }
  }

  /** Yields reads of everything that was acknowledged, for the end of the run. */
  *reads(first) {
    for (const [index, target] of this.#known.entries())
      yield { ...labelled(first + index, "get", reading(target)), isFinal: true };
  }
}

const labelled = (number, kind, ask) => ({
  number,
  kind,
  ...ask,
  headers: { ...ask.headers, "x-number": String(number) },
});

function drawn(random) {
  let left = random.below(1_000);
  for (const [kind, share] of Object.entries(SHARES)) {
    left -= share;
    if (left < 0) return kind;
  }
  return "create";
}

function recentOrAny(random, list) {
  const from = random.chance(0.5) ? 0 : Math.max(0, list.length - RECENT);
  return list[from + random.below(list.length - from)];
}

const headersOf = ({ key, unit }) => ({
  authorization: `Bearer ${key}`,
  ...(unit && { "x-service-unit-id": unit }),
});

function create(caller, payload, idempotencyKey, body = JSON.stringify(payload)) {
  const headers = {
    ...headersOf(caller),
    "content-type": "application/json",
    ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
  };
  return {
    method: "POST",
    path: PATH,
    headers,
    body,
    caller,
    payload,
    idempotencyKey,
    expect: [200],
  };
}

const reading = ({ id, caller }) => ({
  method: "GET",
  path: `${PATH}/${id}`,
  headers: headersOf(caller),
  target: id,
  expect: [200],
});

const payloadOf = (random, number) => ({
  reference: `order-${number}`,
  recipient: { email: `buyer-${number}@example.org` },
  pledges: Array.from({ length: 1 + random.below(3) }, () => ({
    impact: { amount: (1 + random.below(100_000)) / 100, offeringId: "tree" },
    detail: { name: "Wäldchen" },
  })),
});

/**
 * Marks a create request as one that must not be recorded: its sender closes the connection before the end of
 * the body, or it makes the Worker crash.
 */
const unrecorded = (ask, more) => ({ ...ask, payload: undefined, ...more });

/**
 * For each kind of request, a function that makes one. Some kinds repeat or read what an earlier request has
 * created.
 */
const KINDS = {
  create: (random, number) => create(random.pick(CALLERS), payloadOf(random, number)),
  keyed: (random, number) =>
    create(random.pick(CALLERS), payloadOf(random, number), `idempotency-${number}`),
  /** Repeats an earlier create request, with any API key of the same unit and mode. */
  repeat(random, _, { caller: { scope }, payload, idempotencyKey }) {
    const caller = random.pick(CALLERS.filter((each) => each.scope === scope));
    return create(caller, payload, idempotencyKey);
  },
  /** Sends another payload with the idempotency key of an earlier create request. */
  other: (random, number, { caller, idempotencyKey }) => ({
    ...create(caller, payloadOf(random, number), idempotencyKey),
    expect: [200, 422],
  }),
  get: (_random, _number, target) => reading(target),
  invalid: (random) => ({ ...create(random.pick(CALLERS), undefined, "", "{"), expect: [400] }),
  aborted: (random, number) =>
    unrecorded(KINDS.keyed(random, number), { way: "aborted", expect: [] }),
  hangUp: (random, number) => ({ ...KINDS.keyed(random, number), way: "hangs up", expect: [] }),
  slow: (random, number) => ({ ...KINDS.create(random, number), way: "slow" }),
  huge: (random) => ({ ...create(random.pick(CALLERS), undefined, "", HUGE), expect: [413] }),
  /**
   * Sends a body of almost 1 MiB. The record is a third as long, because it stores the characters that are
   * escaped in the body in unescaped form.
   */
  crowd(random, number) {
    const payload = payloadOf(random, number);
    payload.pledges[0].detail.name = "é".repeat(170_000);
    const body = JSON.stringify(payload).replaceAll("é", "\\u00e9");
    return create(random.pick(CALLERS), payload, `crowd-${number}`, body);
  },
  trap(random, number) {
    const ask = KINDS.create(random, number);
    const headers = { ...ask.headers, "x-stand-in": "body makes it panic" };
    return unrecorded(ask, { headers, expect: [500] });
  },
};
