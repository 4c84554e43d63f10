/** Runs all measurements of one process: checks of JavaScript values, and checks of JSON bytes. */
import { KIND_NAMES, texts } from "../data.mjs";
import * as ajv from "../rivals/ajv.mjs";
import * as arktype from "../rivals/arktype.mjs";
import * as bytesOurs from "../rivals/ours-bytes.mjs";
import * as ours from "../rivals/ours.mjs";
import * as oursJs from "../rivals/ours-js.mjs";
import * as sury from "../rivals/sury.mjs";
import * as typebox034 from "../rivals/typebox-0.34.mjs";
import * as typebox from "../rivals/typebox.mjs";
import * as typia from "../rivals/typia.mjs";
import * as valibot from "../rivals/valibot.mjs";
import * as zod from "../rivals/zod.mjs";
import { duel, touched } from "./duel.mjs";

/** The competitors that check values; our package is first. @type {import("./duel.mjs").Competitor[]} */
const OF_VALUES = [
  { name: "impact-pledge", ...ours },
  { name: "impact-pledge, …/js", ...oursJs },
  { name: "ajv 8", ...ajv },
  { name: "typia", ...typia },
  { name: "TypeBox 1", ...typebox },
  { name: "TypeBox 0.34", ...typebox034 },
  { name: "sury", ...sury, most: 1 },
  { name: "arktype", ...arktype },
  { name: "zod 4", ...zod },
  { name: "valibot", ...valibot },
];

const decoder = new TextDecoder();
const parsed = (bytes) => JSON.parse(decoder.decode(bytes));

function parseOnly(bytes) {
  parsed(bytes);
  return [];
}

/** The competitors that check JSON bytes. Libraries other than ours parse the bytes first. */
const OF_BYTES = [
  { name: "impact-pledge", ...bytesOurs },
  { name: "ajv 8", check: (bytes) => ajv.check(parsed(bytes)), touch: ajv.touch },
  { name: "zod 4", check: (bytes) => zod.check(parsed(bytes)), touch: zod.touch },
  { name: "JSON.parse alone", check: parseOnly, touch: () => 0 },
];

/**
 * Runs all measurements, and checks first that the libraries do the same work.
 * @param {{rounds: number, batchMs: number}} plan
 * @param {{value: any, valid: boolean}[]} cases values, and whether the contract allows them
 * @param {(line: string) => void} say
 */
export async function contest(plan, cases, say) {
  const values = {};
  const bytes = {};
  const encoder = new TextEncoder();
  for (const kind of KIND_NAMES) {
    say(kind);
    const all = texts(kind);
    const inputs = all.map((text) => JSON.parse(text));
    mustFindAll(kind, inputs);
    values[kind] = await duel(OF_VALUES, inputs, plan);
    if (kind.endsWith("OfShop")) continue; // all bytes are checked in one way
    const encoded = all.map((text) => encoder.encode(text));
    bytes[kind] = await duel(OF_BYTES, encoded, plan);
  }
  return { values, bytes, conformity: conformity(cases), touched: touched() };
}

/**
 * Checks that each library does the same work. It must find no problem in a valid payload, and at least five
 * problems in an invalid one; a library that reports only the first problem must find one.
 */
function mustFindAll(kind, inputs) {
  for (const { name, check, most = 5 } of OF_VALUES) {
    for (const input of inputs) {
      const { length } = check(input);
      if (kind.startsWith("problems") ? length < most : length > 0)
        throw new Error(`${name} reports ${length} problems in a payload of kind ${kind}`);
    }
  }
}

/**
 * Counts how often each library accepts a value that the contract refuses, and how often it refuses a value
 * that the contract allows.
 */
function conformity(cases) {
  const of = ({ name, check }) => {
    const says = cases.map(({ value, valid }) => ({ valid, accepted: check(value).length === 0 }));
    const lenient = says.filter(({ valid, accepted }) => accepted && !valid).length;
    const strict = says.filter(({ valid, accepted }) => !accepted && valid).length;
    return [name, { rows: says.length, lenient, strict }];
  };
  return Object.fromEntries(OF_VALUES.map(of));
}
