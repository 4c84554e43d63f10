/**
 * Generates realistic payloads, each with different data. A seeded generator makes them, so they are the same in
 * every run.
 */
import { mulberry32 } from "../../../pkg-templates/testing/random.ts";

const FIRST_NAMES = ["Ada", "Grace", "Zoë", "Margaret", "Łukasz", "Mary", "Radia", "Katherine"];
const LAST_NAMES = [
  "Lovelace",
  "Hopper",
  "Saldaña",
  "Hamilton",
  "Nowak",
  "Jackson",
  "Perlman",
  "Johnson",
];
const OFFERINGS = [
  { id: "tree", name: "Mangroves in the delta", one: "tree", many: "trees" },
  { id: "plastic-kg", name: "Plastic out of the ocean", one: "kilogram", many: "kilograms" },
];
const AMOUNTS = [1, 2, 3, 5, 10, 0.5, 2.25, 12.75];
const NOTIFICATIONS = ["Email", "MessagingServiceA", "MessagingServiceB"];

/**
 * The kinds of payload of `bench:validate`. Each has a label, the number of pledges in a payload, and the
 * number of payloads. Those of shops have the addresses that shop systems and newsletters make: web
 * addresses with query, percent-encoding and fragment, e-mail addresses with a tag, and local times.
 */
export const KINDS = {
  minimal: { label: "minimal (required only)", pledges: 1, count: 512 },
  small: { label: "small (1 pledge, all members)", pledges: 1, count: 512 },
  smallOfShop: { label: "small, addresses of shops", pledges: 1, count: 512 },
  medium: { label: "medium (10 pledges)", pledges: 10, count: 128 },
  mediumOfShop: { label: "medium, addresses of shops", pledges: 10, count: 128 },
  large: { label: "large (1,000 pledges)", pledges: 1_000, count: 4 },
  largeOfShop: { label: "large, addresses of shops", pledges: 1_000, count: 4 },
  problems: { label: "5 problems in a small one", pledges: 1, count: 512 },
  problemsOfShop: { label: "5 problems, addresses of shops", pledges: 1, count: 512 },
};

/**
 * Returns the random number generator Mulberry32, which gives the same numbers on all platforms.
 * @param {number} seed
 * @returns {() => number} the generator, whose numbers are from 0 to 1
 */
export function generator(seed) {
  const next = mulberry32(seed);
  return () => (next() >>> 0) / 2 ** 32;
}

/** @typedef {keyof typeof KINDS} Kind */

export const KIND_NAMES = /** @type {Kind[]} */ (Object.keys(KINDS));

/** Returns the payloads of a kind, as JSON texts. @param {Kind} kind @returns {string[]} */
export function texts(kind, seed = 1) {
  const random = generator(seed);
  const { pledges, count } = KINDS[kind];
  const addresses = kind.endsWith("OfShop") ? OF_SHOPS : PLAIN;
  const make = kind.startsWith("problems") ? requestWithProblems : fullRequest;
  const request = () =>
    kind === "minimal" ? minimalRequest(random) : make(random, pledges, addresses);
  return Array.from({ length: count }, () => JSON.stringify(request()));
}

const pick = (random, list) => list[Math.floor(random() * list.length)];
const digits = (random, length) =>
  String(Math.floor(random() * 10 ** length)).padStart(length, "0");
const hex = (random, length) =>
  Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join("");

/** @param {() => number} random */
export function minimalRequest(random) {
  return {
    reference: `order-${digits(random, 8)}`,
    recipient: { email: email(random) },
    pledges: [{ impact: impact(random) }],
  };
}

/**
 * Returns a request with every member of the contract, at every level.
 * @param {() => number} random
 * @param {number} count the number of pledges
 */
export function fullRequest(random, count, addresses = PLAIN) {
  return {
    reference: `order-${digits(random, 8)}`,
    recipient: {
      email: addresses.email(random),
      firstName: pick(random, FIRST_NAMES),
      name: `${pick(random, FIRST_NAMES)} ${pick(random, LAST_NAMES)}`,
    },
    pledges: Array.from({ length: count }, () => ({
      impact: impact(random),
      detail: detail(random, addresses),
    })),
    trigger: {
      date: addresses.date(random),
      phrase: "placed an order",
      externalUrl: addresses.order(random),
    },
    notifications: NOTIFICATIONS.slice(0, 1 + Math.floor(random() * 3)),
  };
}

/**
 * Returns a request with five problems, each of a different kind and at a different pointer.
 * @param {() => number} random
 */
export function requestWithProblems(random, count = 1, addresses = PLAIN) {
  const request = fullRequest(random, count, addresses);
  const [pledge] = request.pledges;
  request.recipient.email = `ada.${digits(random, 4)}.example.org`;
  pledge.impact.amount = -pledge.impact.amount;
  delete pledge.impact.offeringId;
  pledge.detail.image = `not an address ${digits(random, 4)}`;
  request.colour = "green";
  return request;
}

const email = (random) =>
  `${pick(random, ["ada", "grace.hopper", "m.hamilton+orders"])}.${digits(random, 6)}@mail-${digits(random, 2)}.example.org`;
const impact = (random) => ({
  amount: pick(random, AMOUNTS),
  offeringId: pick(random, OFFERINGS).id,
});
const date = (random) => new Date(Date.UTC(2026, 0, 1) + Math.floor(random() * 3e10)).toISOString();

function detail(random, addresses) {
  const { name, one, many } = pick(random, OFFERINGS);
  const item = digits(random, 6);
  return {
    name,
    description: `Batch ${digits(random, 4)}: planted, counted and cared for over ${2 + Math.floor(random() * 8)} years.`,
    nounSingular: one,
    nounPlural: many,
    image: addresses.image(random),
    externalId: `SKU-${item}`,
    externalUrl: addresses.product(random, item),
  };
}

/** Short addresses without unusual characters. */
const PLAIN = {
  email,
  date,
  order: (random) => `https://shop.example/orders/${digits(random, 8)}?from=checkout`,
  image: (random) =>
    `https://images.shop.example/impact/${hex(random, 12)}/large.webp?v=${digits(random, 2)}`,
  product: (_, item) => `https://shop.example/products/${item}`,
};

/** Addresses as shop systems and newsletters make them. */
const OF_SHOPS = {
  email: (random) =>
    `${pick(random, ["ada", "grace.hopper", "m.hamilton"])}+orders${digits(random, 6)}@mail.example.org`,
  date: (random) => `${date(random).slice(0, 19)}+0${1 + Math.floor(random() * 2)}:00`,
  order: (random) =>
    `https://shop.example/orders/${hex(random, 16)}/status?utm_source=mail&utm_content=order%2Cpaid#impact`,
  image: (random) =>
    `https://cdn.shop.example/files/B%C3%A4ume_${hex(random, 8)}.jpg?v=${digits(random, 10)}&width=800`,
  product: (random, item) =>
    `https://shop.example/products/${item}?variant=${digits(random, 8)}&utm_campaign=spring%2Csale#reviews`,
};
