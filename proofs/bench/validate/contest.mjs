/**
 * All that is timed inside one process: values, bytes, and what no validator can be faster than.
 */
import { KINDS, KIND_NAMES, texts } from "../data.mjs";
import * as ajv from "../rivals/ajv.mjs";
import * as arktype from "../rivals/arktype.mjs";
import * as bytesOurs from "../rivals/ours-bytes.mjs";
import * as ours from "../rivals/ours.mjs";
import * as oursJs from "../rivals/ours-js.mjs";
import * as typebox from "../rivals/typebox.mjs";
import * as valibot from "../rivals/valibot.mjs";
import * as zod from "../rivals/zod.mjs";
import * as zodMini from "../rivals/zod-mini.mjs";
import { duel, touched } from "./duel.mjs";
import { LIMITS } from "./limits.mjs";

/** Ours first. */
export const COMPETITORS = Object.entries({
  "impact-pledge": ours,
  "impact-pledge, …/js": oursJs,
  "ajv 8": ajv,
  "zod 4": zod,
  "zod/mini": zodMini,
  valibot,
  typebox,
  arktype,
}).map(([name, module]) => ({ name, ...module }));

const decoder = new TextDecoder();
const parsed = (bytes) => JSON.parse(decoder.decode(bytes));

function parseOnly(bytes) {
  parsed(bytes);
  return [];
}

const OF_BYTES = [
  { name: "impact-pledge", ...bytesOurs },
  { name: "JSON.parse + ajv 8", check: (bytes) => ajv.check(parsed(bytes)), touch: ajv.touch },
  { name: "JSON.parse + zod 4", check: (bytes) => zod.check(parsed(bytes)), touch: zod.touch },
  { name: "JSON.parse alone", check: parseOnly, touch: () => 0 },
];

/**
 * @param {{rounds: number, batchMs: number}} plan
 * @param {{name: string, value: any, valid: boolean}[]} cases values, and whether the contract allows them
 * @param {(line: string) => void} say
 */
export async function contest(plan, cases, say) {
  const values = {};
  const bytes = {};
  for (const kind of KIND_NAMES) {
    say(`${kind}: values`);
    values[kind] = await duel(
      COMPETITORS,
      texts(kind).map((text) => JSON.parse(text)),
      plan,
    );
    say(`${kind}: JSON bytes`);
    const encoder = new TextEncoder();
    bytes[kind] = await duel(
      OF_BYTES,
      texts(kind).map((text) => encoder.encode(text)),
      plan,
    );
  }
  say("limits");
  const limits = {};
  for (const { competitor, inputs } of LIMITS)
    Object.assign(limits, await duel([competitor], inputs, plan));
  return {
    values,
    bytes,
    limits,
    found: found(),
    conformity: conformity(cases),
    touched: touched(),
  };
}

/**
 * How many problems each finds, and at how many places, in payloads of each kind: the same in all
 * of a kind.
 */
function found() {
  const ofKind = (kind, { check, pointer }) => {
    const all = texts(kind).map((text) => Array.from(check(JSON.parse(text))));
    const range = (numbers) => [...new Set(numbers)].sort((a, b) => a - b).join(" or ");
    return {
      problems: range(all.map((problems) => problems.length)),
      places: range(all.map((problems) => new Set(problems.map(pointer)).size)),
    };
  };
  const kinds = Object.keys(KINDS);
  return Object.fromEntries(
    COMPETITORS.map((competitor) => [
      competitor.name,
      Object.fromEntries(kinds.map((kind) => [kind, ofKind(kind, competitor)])),
    ]),
  );
}

/** How often each agrees with the contract, and where it lets pass what the contract refuses. */
function conformity(cases) {
  const conformityOf = ({ check }) => {
    const says = cases.map(({ value, valid }) => ({ valid, accepted: check(value).length === 0 }));
    const lenient = says.filter(({ valid, accepted }) => accepted && !valid).length;
    const strict = says.filter(({ valid, accepted }) => !accepted && valid).length;
    return { rows: says.length, lenient, strict };
  };
  return Object.fromEntries(
    COMPETITORS.map((competitor) => [competitor.name, conformityOf(competitor)]),
  );
}
