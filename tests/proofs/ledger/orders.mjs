/** Generates the create requests. The seed and the request's number determine its caller and its payload. */
import { Random } from "../faults/mix.mjs";

const PATH = "/v2/pledge-transaction";
const BUYERS = 500; // addresses

/** API keys of local development, and the unit or team that each acts for. */
const CALLERS = [
  { key: "service_sk_test_dev_unit", mode: "test", unit: "unit_dev" },
  { key: "service_sk_live_dev_unit", mode: "live", unit: "unit_dev" },
  { key: "service_sk_test_dev_unit_two", mode: "test", unit: "unit_dev_two" },
  { key: "service_sk_test_dev_team", mode: "test", unit: "unit_dev", isTeam: true },
  { key: "service_sk_live_dev_team", mode: "live", unit: "unit_dev", isTeam: true },
  { key: "service_sk_live_dev_team", mode: "live", unit: "unit_dev_two", isTeam: true },
];

/** Of 1,000 create requests, the number of each kind. */
const BASKETS = { small: 600, fractional: 150, fine: 80, huge: 60, many: 80, crowded: 25, vast: 5 };
const KEYED = 0.3;
const REPEATS = 0.15;
const REPEATED = 60; // a repeat is one of so many earlier creates

const OFFERINGS = ["tree", "plastic-kg", "reef", 'kelp "deep" \\ ☃', "tree\u0000"];
const HUGE = [1e308, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 2 ** 67];
const FINE = [0.1 + 0.2, 1e-7, 9007199254.740993, 2 ** 53, 2 ** 51 + 1.5, 1 / 3];

/**
 * @typedef {{key: string, mode: string, unit: string, isTeam?: boolean}} Caller
 * @typedef {{number: number, caller: Caller, payload: any, idempotencyKey?: string}} Order `number`: the
 *   number of the request; a repeated request has the number of the request that it repeats
 */

/** @param {number} seed @param {number} number @returns {Order} */
export function order(seed, number) {
  const random = new Random(seed, number, "order");
  const earlier = random.chance(REPEATS) ? keyedBefore(seed, number, random) : null;
  if (earlier === null) return created(seed, number);
  const { caller } = earlier;
  const own = CALLERS.filter(({ mode, unit }) => mode === caller.mode && unit === caller.unit);
  return { ...earlier, caller: random.pick(own) };
}

/** Returns a create request that repeats no earlier one. */
function created(seed, number) {
  const random = new Random(seed, number, "create");
  const isKeyed = random.chance(KEYED);
  return {
    number,
    caller: random.pick(CALLERS),
    payload: payloadOf(random, number),
    ...(isKeyed && { idempotencyKey: `key-${number}` }),
  };
}

function keyedBefore(seed, number, random) {
  const first = Math.max(1, number - 1 - random.below(REPEATED));
  for (let before = first; before >= 1 && before > first - REPEATED; before -= 1) {
    if (new Random(seed, before, "order").chance(REPEATS)) continue; // itself a repeat
    const earlier = created(seed, before);
    if (earlier.idempotencyKey) return earlier;
  }
  return null;
}

function payloadOf(random, number) {
  const email = `${random.chance(0.2) ? "Buyer" : "buyer"}-${random.below(BUYERS)}@example.org`;
  const impacts = BASKET[drawn(random)](random, email);
  return {
    reference: `load-${number}`, // the development data has references such as `order-1001`
    recipient: { email, firstName: "Änne" },
    pledges: impacts.map((impact) => ({ impact, detail: { name: "Wäldchen" } })),
  };
}

function drawn(random) {
  let left = random.below(1_000);
  for (const [kind, share] of Object.entries(BASKETS)) {
    left -= share;
    if (left < 0) return kind;
  }
  return "small";
}

const times = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const impact = (offeringId, amount) => ({ offeringId, amount });

/**
 * For each kind of create request, a function that returns its pledges.
 * @type {Record<string, (random: Random, email: string) => {offeringId: string, amount: number}[]>}
 */
const BASKET = {
  small: (random) =>
    times(1 + random.below(3), () => impact(random.pick(OFFERINGS), 1 + random.below(50))),
  fractional: (random) =>
    times(1 + random.below(4), () =>
      impact(random.pick(OFFERINGS), (1 + random.below(10 ** 7)) / 10 ** (1 + random.below(6))),
    ),
  fine: (random) =>
    times(1 + random.below(3), () => impact(random.pick(OFFERINGS), random.pick(FINE))),
  huge: (random) =>
    times(1 + random.below(3), () => impact(random.pick(OFFERINGS), random.pick(HUGE))),
  /**
   * Returns pledges of more offerings than fit into a record's metadata. One offering's ID names the
   * recipient.
   */
  many: (random, email) => [
    impact(`card for ${email}`, 1),
    ...times(20 + random.below(40), (index) => impact(`grove-${index}`, 1 + random.below(9))),
  ],
  crowded: (random) =>
    times(200, () => impact(random.pick(OFFERINGS), (1 + random.below(1_000)) / 100)),
  /**
   * Returns pledges whose sums have 600 digits each. These sums are too long for one message to the ledger.
   */
  vast: () =>
    times(200, (index) => [
      impact(`ocean-${index}`, 1e308),
      impact(`ocean-${index}`, 5e-324),
    ]).flat(),
};

/** @param {Order} order */
export function request({ caller, payload, idempotencyKey }) {
  return {
    method: "POST",
    path: PATH,
    headers: {
      authorization: `Bearer ${caller.key}`,
      "content-type": "application/json",
      ...(caller.isTeam && { "x-service-unit-id": caller.unit }),
      ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify(payload),
  };
}
