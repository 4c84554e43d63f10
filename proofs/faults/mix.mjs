/** The requests to the service: a seed and a number decide the kind and the payload of each. */
import { Random } from "./random.mjs";

const PATH = "/v2/pledge-transaction";
const ORIGIN = /^https?:\/\/[^/]+/;
const MIB = 1024 * 1024;
const HUGE = "x".repeat(30_000_000);
const RECENT = 100; // so many may still be under way

/** How many of a thousand requests. */
const SHARES = {
  create: 300,
  keyed: 140,
  repeat: 120,
  other: 30,
  get: 195,
  foreign: 40,
  timeline: 50,
  wrongTimeline: 20,
  invalid: 40,
  unknownKey: 20,
  missing: 14.6,
  aborted: 15,
  hangUp: 10,
  slow: 5,
  huge: 0.4,
};
const TOTAL = Object.values(SHARES).reduce((sum, share) => sum + share);

/** API keys of local development, and whom each acts as. */
export const CALLERS = [
  { key: "service_sk_test_dev_unit", scope: "test unit_dev" },
  { key: "service_sk_live_dev_unit", scope: "live unit_dev" },
  { key: "service_sk_test_dev_unit_two", scope: "test unit_dev_two" },
  { key: "service_sk_test_dev_team", scope: "test unit_dev", unit: "unit_dev" },
  { key: "service_sk_live_dev_team", scope: "live unit_dev_two", unit: "unit_dev_two" },
];

/**
 * @typedef {{key: string, scope: string, unit?: string}} Caller
 *
 * @typedef {object} Ask
 * @property {number} number
 * @property {string} kind
 * @property {(number | undefined)[]} expect statuses, where nothing fails
 * @property {Caller} [caller]
 * @property {string} [idempotencyKey]
 * @property {{reference: string, recipient: {email: string}, pledges: any[], notifications?: string[], trigger?: object}} [payload]
 *   of a create that may be recorded; equal ones are one object
 * @property {{id: string, timelineUrl: string, email: string}} [target] the record that is read: what an acknowledged create answered
 * @property {string} [way] how it is sent, see {@link Client}
 * @property {boolean} [isFinal] whether it is sent after the last fault
 */

export class Mix {
  /** The acknowledged creates, added by {@link acknowledge}. @type {any[]} */
  known = [];
  #ids = new Set();
  #keyed = [];

  /** @param {{seed: number, callers?: typeof CALLERS, special?: Map<number, string>}} how `special`: kinds by number that no seed draws */
  constructor({ seed, callers = CALLERS, special = new Map() }) {
    this.seed = seed;
    this.callers = callers;
    this.special = special;
  }

  /**
   * @param {Pick<Ask, "caller"> & {payload: NonNullable<Ask["payload"]>}} ask
   * @param {any} json of its 200
   */
  acknowledge({ caller, payload }, { id, timelineUrl }) {
    if (!this.#ids.has(id))
      this.known.push({ id, timelineUrl, caller, email: payload.recipient.email });
    this.#ids.add(id);
  }

  /**
   * @param {number} number
   * @returns {Ask & {method: string, path: string, headers: object, body?: string, way?: string}}
   */
  next(number) {
    const random = new Random(this.seed, number, "ask");
    const wanted = this.special.get(number) ?? drawn(random) ?? "create";
    const needs = {
      repeat: this.#keyed,
      other: this.#keyed,
      get: this.known,
      foreign: this.known,
      timeline: this.known,
      wrongTimeline: this.known,
    }[wanted];
    const kind = needs?.length === 0 ? "keyed" : wanted;
    const ask = KINDS[kind](random, {
      number,
      callers: this.callers,
      earlier: kind === wanted && needs ? recentOrAny(random, needs) : undefined,
    });
    if (["keyed", "hangUp"].includes(kind)) this.#keyed.push(ask);
    return labelled(number, kind, ask);
  }

  /** Repeats of `count` creates with an idempotency key. */
  *repeats(first, count) {
    const every = Math.max(1, Math.floor(this.#keyed.length / count));
    for (const [index, ask] of this.#keyed.filter((_, index) => index % every === 0).entries())
      yield {
        ...labelled(first + index, "repeat", create(ask, ask.caller, ask.payload)),
        isFinal: true,
      };
  }

  /**
   * Reads of all that was acknowledged, by its own caller, and of every tenth by one of another
   * unit or mode.
   */
  *reads(first) {
    let number = first;
    const final = (kind, ask) => ({ ...labelled(number++, kind, ask), isFinal: true });
    for (const [index, target] of this.known.entries()) {
      yield final("get", reading(target, target.caller, [200]));
      if (index % 10 === 0)
        yield final(
          "foreign",
          reading(target, stranger(target.caller, this.callers, new Random(number)), [404]),
        );
    }
  }
}

const labelled = (number, kind, ask) => ({
  number,
  kind,
  ...ask,
  headers: { ...ask.headers, "x-number": String(number) },
});

function drawn(random) {
  let left = random.next() * TOTAL;
  return Object.keys(SHARES).find((kind) => {
    left -= SHARES[kind];
    return left < 0;
  });
}

const recentOrAny = (random, list) =>
  list[
    random.chance(0.5)
      ? random.below(list.length)
      : Math.max(0, list.length - 1 - random.below(RECENT))
  ];
const stranger = ({ scope }, callers, random) =>
  random.pick(callers.filter((caller) => caller.scope !== scope));

/** @param {Caller} caller */
const headersOf = ({ key, unit }) => ({
  authorization: `Bearer ${key}`,
  ...(unit && { "x-service-unit-id": unit }),
});

/**
 * @param {{idempotencyKey?: string}} earlier a create that has the key
 * @param {Caller} caller
 */
function create({ idempotencyKey }, caller, payload, body = JSON.stringify(payload)) {
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
    expect: idempotencyKey ? [200, 422] : [200],
  };
}

const reading = (target, caller, expect) => ({
  method: "GET",
  path: `${PATH}/${target.id}`,
  headers: headersOf(caller),
  caller,
  target,
  expect,
});

const pledge = (random) => ({
  impact: {
    amount: (1 + random.below(100_000)) / 100,
    offeringId: random.pick(["tree", "plastic-kg", "kelp"]),
  },
  ...(random.chance(0.3) && { detail: { name: `Wäld ${random.text(8)}` } }),
});

function payloadOf(random, number) {
  const recipient = {
    email: `${random.text(6)}@example.org`,
    ...(random.chance(0.5) && { name: random.text(20) }),
  };
  const more = random.chance(0.2)
    ? { notifications: ["Email"], trigger: { phrase: "placed an order" } }
    : {};
  return {
    reference: `order-${number}`,
    recipient,
    pledges: Array.from({ length: 1 + random.below(3) }, () => pledge(random)),
    ...more,
  };
}

/** The same JSON in other words. */
function respelled(json) {
  const backwards = (value) => {
    if (Array.isArray(value)) return value.map(backwards);
    if (!(value instanceof Object)) return value;
    const members = Object.entries(value).map(([name, member]) => [name, backwards(member)]);
    return Object.fromEntries(members.reverse());
  };
  return JSON.stringify(backwards(json), null, "\t")
    .replace(/("amount": [\d.]+)/g, "$1e0")
    .replace(/"order-/g, '"\\u006frder-');
}

/** How a body is refused. */
const INVALID = [
  [400, (json) => ({ body: JSON.stringify(json).slice(0, -1) })],
  [400, ({ recipient, ...json }) => ({ body: JSON.stringify(json) })],
  [
    400,
    (json) => ({
      body: JSON.stringify({ ...json, pledges: [{ impact: { amount: 0, offeringId: "tree" } }] }),
    }),
  ],
  [400, (json) => ({ body: JSON.stringify({ ...json, more: 1 }) })],
  [400, (json) => ({ body: JSON.stringify(json).replace("{", '{"reference":"twice",') })],
  [400, () => ({ headers: { "idempotency-key": "x".repeat(300) } })],
  [415, () => ({ headers: { "content-type": "text/plain" } })],
  [415, () => ({ headers: { "content-encoding": "gzip" } })],
  [405, () => ({ method: "DELETE" })],
];

const KINDS = {
  create: (random, { number, callers }) =>
    create({}, random.pick(callers), payloadOf(random, number)),
  keyed: (random, { number, callers }) =>
    create(
      { idempotencyKey: `idempotency-${random.text(16)}` },
      random.pick(callers),
      payloadOf(random, number),
    ),
  /** Now and then by another API key of the same unit and mode. */
  repeat(random, { callers, earlier }) {
    const caller = random.chance(0.8)
      ? earlier.caller
      : random.pick(callers.filter(({ scope }) => scope === earlier.caller.scope));
    return create(
      earlier,
      caller,
      earlier.payload,
      random.chance(0.5) ? respelled(earlier.payload) : undefined,
    );
  },
  other: (random, { number, earlier }) =>
    create(earlier, earlier.caller, payloadOf(random, number)),
  get: (_, { earlier }) => reading(earlier, earlier.caller, [200]),
  foreign: (random, { callers, earlier }) =>
    reading(earlier, stranger(earlier.caller, callers, random), [404]),
  timeline: (_, { earlier: target }) => ({
    method: "GET",
    path: target.timelineUrl.replace(ORIGIN, ""),
    headers: {},
    target,
    expect: [200],
  }),
  wrongTimeline: (random, { earlier: target }) => ({
    method: "GET",
    path: target.timelineUrl.replace(ORIGIN, "").replace(/=.*/, `=${random.text(32)}`),
    headers: {},
    target,
    expect: [404],
  }),
  missing: (random, { callers }) => ({
    ...reading({ id: `ptran_${random.text(24)}` }, random.pick(callers), [404]),
    target: undefined,
  }),
  unknownKey: (random, { number, callers }) => ({
    ...create(
      {},
      { ...callers[0], key: `service_sk_test_${random.text(20)}` },
      payloadOf(random, number),
    ),
    payload: undefined,
    expect: [401],
  }),
  invalid(random, { number, callers }) {
    const [status, spoil] = random.pick(INVALID);
    const { headers, payload, ...ask } = create(
      {},
      random.pick(callers),
      payloadOf(random, number),
    );
    const { headers: more, ...rest } = spoil(payload);
    return { ...ask, ...rest, headers: { ...headers, ...more }, expect: [status] };
  },
  aborted: (random, context) => ({
    ...KINDS.keyed(random, context),
    payload: undefined,
    way: "aborted",
    expect: [],
  }),
  hangUp: (random, context) => ({ ...KINDS.keyed(random, context), way: "hangs up", expect: [] }),
  slow: (random, context) => ({ ...KINDS.create(random, context), way: "slow" }),
  huge: (random, { callers }) => ({
    ...create({}, random.pick(callers), undefined, HUGE),
    way: random.pick(["whole", "chunked"]),
    expect: [413],
  }),
  /** Nearly 1 MiB, of which the record keeps a third. */
  crowd(random, { number, callers }) {
    const payload = payloadOf(random, number);
    payload.pledges[0].detail = { description: "é".repeat(170_000) };
    return create(
      { idempotencyKey: `crowd-${number}` },
      random.pick(callers),
      payload,
      JSON.stringify(payload).replaceAll("é", "\\u00e9").slice(0, MIB),
    );
  },
  trap: (random, context) => {
    const { headers, ...ask } = KINDS.create(random, context);
    return {
      ...ask,
      payload: undefined,
      headers: { ...headers, "x-stand-in": "body makes it panic" },
      expect: [500],
    };
  },
};
