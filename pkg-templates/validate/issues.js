/** Problems as numbers become issues for people. */
import { CODES, KINDS, MESSAGES, NOT_FINITE, NOT_POSITIVE, PLACES, UNDECIDED, UNKNOWN_MEMBER } from "../generated/tables.js";

/** What the numbers of a problem say, by those numbers. */
const explained = new Map();

function explain(about) {
  const rank = about & 255, code = (about >> 8) & 255;
  const steps = PLACES[rank].split("/").slice(1);
  const message = MESSAGES[code];
  const text = typeof message === "string" ? message : message[0][KINDS[rank]] + (message[1]?.[about >> 16] ?? "");
  const explanation = {
    code: CODES[code],
    steps,
    item: steps.indexOf("*"),
    pointer: PLACES[rank].split("*"),
    message: text.split("*"),
  };
  explained.set(about, explanation);
  return explanation;
}

/**
 * Reads problems out of the engine's memory.
 * @param {{problems: Uint32Array, orders: Float64Array}} engine
 * @param {number} count
 * @param {(from: number, length: number) => string} part of the input: the name of an unknown member, or a number
 * @param {object[]} issues takes what is found
 * @param {number[] | null} orders takes where each stands in the schema's order
 */
export function read(engine, count, part, issues, orders) {
  const { problems } = engine;
  for (let nth = 0; nth < count; nth++) {
    const at = nth * 6;
    const named = () => part(problems[at + 4], problems[at + 5]);
    const about = decided(problems[at + 2], named);
    if (about === null) continue;
    const issue = issueOf(about, problems[at + 3]);
    if (((about >> 8) & 255) === UNKNOWN_MEMBER) addName(issue, named());
    issues.push(issue);
    orders?.push(engine.orders[nth * 3]);
  }
}

/** A number whose digits decide whether a double can hold it; null when it is fine. */
function decided(about, named) {
  if (((about >> 8) & 255) !== UNDECIDED) return about;
  const value = Number(named());
  if (value > 0 && value < Infinity) return null;
  return (about & 255) | ((Number.isFinite(value) ? NOT_POSITIVE : NOT_FINITE) << 8);
}

/** @param {number} about a problem's rank and code, and what else its text is about */
export function issueOf(about, number) {
  const { code, steps, item, pointer, message } = explained.get(about) ?? explain(about);
  const path = steps.slice();
  if (item >= 0) path[item] = number;
  return {
    path,
    pointer: item < 0 ? pointer[0] : pointer[0] + number + pointer[1],
    code,
    message: message.length < 2 ? message[0] : message.join(number),
  };
}

/** An unknown member is below the object that the numbers are about. */
function addName(issue, name) {
  issue.path.push(name);
  issue.pointer += `/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`;
}

/** The issues in the schema's order; those of one place stay as they are. */
export function inOrder(issues, orders) {
  if (orders.every((order, i) => i === 0 || orders[i - 1] <= order)) return issues;
  return [...orders.keys()].sort((a, b) => orders[a] - orders[b]).map((i) => issues[i]);
}
