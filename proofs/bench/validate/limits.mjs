/** Lower bounds for the time of a validator behind a wasm boundary, and of one in JavaScript. */
import { texts } from "../data.mjs";

/** `(func (export "f") (param i32) (result i32) local.get 0)` */
const IDENTITY = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  6,
  1,
  96,
  1,
  127,
  1,
  127,
  3,
  2,
  1,
  0,
  7,
  5,
  1,
  1,
  102,
  0,
  0,
  10,
  6,
  1,
  4,
  0,
  32,
  0,
  11,
);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(IDENTITY));
const cross = /** @type {(value: number) => number} */ (exports.f);

const NONE = [];
const encoder = new TextEncoder();
const buffer = new Uint8Array(65_536);
const small = texts("small");
const values = small.map((text) => JSON.parse(text));

function measured(name, work, inputs) {
  const check = (input) => {
    work(input);
    return NONE;
  };
  return { competitor: { name, check, touch: () => 0 }, inputs };
}

export const LIMITS = [
  measured(
    "one call into wasm",
    (index) => cross(index),
    small.map((_, index) => index),
  ),
  measured(
    "one `encodeInto` of a small payload's formatted texts",
    (text) => encoder.encodeInto(text, buffer),
    values.map(formatted),
  ),
  measured(
    "`isWellFormed` of each of a small payload's other texts",
    countWellFormed,
    values.map(others),
  ),
  measured("`Object.keys` of each object of a small payload", countKeys, values),
];

/** The texts that have a format, as one. */
function formatted({ recipient, pledges: [{ detail }], trigger }) {
  return [
    recipient.email,
    detail.image,
    detail.externalUrl,
    trigger.date,
    trigger.externalUrl,
  ].join("");
}

/** The texts that have none. */
function others({ reference, recipient, pledges: [{ impact, detail }], trigger }) {
  return [
    reference,
    recipient.firstName,
    recipient.name,
    impact.offeringId,
    detail.name,
    detail.description,
    detail.nounSingular,
    detail.nounPlural,
    detail.externalId,
    trigger.phrase,
  ];
}

function countWellFormed(texts) {
  let count = 0;
  for (const text of texts) count += text.isWellFormed() ? 1 : 0;
  return count;
}

function countKeys(request) {
  const { recipient, pledges, trigger } = request;
  let count =
    Object.keys(request).length + Object.keys(recipient).length + Object.keys(trigger).length;
  for (const { impact, detail } of pledges)
    count += Object.keys(impact).length + Object.keys(detail).length;
  return count;
}
