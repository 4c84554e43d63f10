/** Problems as numbers become issues for people. */
import { CODES, KINDS, MESSAGES, NOT_FINITE, NOT_POSITIVE, PLACES, UNDECIDED, UNKNOWN_MEMBER } from "../generated/tables.js";

/** What the numbers of a problem say, by those numbers. */
const explained = new Map();

function explain(about) {
  const rank = about & 255, code = (about >> 8) & 255;
  const steps = PLACES[rank].split("/").slice(1);
  const message = MESSAGES[code];
  const text = typeof message === "string" ? message : message[0][KINDS[rank]] + (message[1][about >> 16] ?? "") + message[2];
  const item = steps.indexOf("*");
  const explanation = {
    code: CODES[code],
    steps,
    item,
    pointer: PLACES[rank].split("*"),
    text,
    isOpen: text.endsWith(" "),
    order: orderOf(rank, code, steps, item),
  };
  explained.set(about, explanation);
  return explanation;
}

/**
 * Where it stands in the schema's order, but for its item: by the rank among the request's members, then by the item,
 * then by the rank in the item. An unknown member comes behind all that lies in its object, the inner of two objects'
 * first.
 */
function orderOf(rank, code, steps, item) {
  const order = code === UNKNOWN_MEMBER ? lastIn(PLACES[rank]) * STEPS + STEPS - 1 - steps.length : rank * STEPS;
  const array = PLACES.indexOf(`/${steps[0]}`);
  return item < 0 ? order * ITEMS : array * STEPS * ITEMS + order;
}

/** The last rank of what lies in an object or an array; 0 where nothing does. */
export const lastIn = (pointer) => PLACES.reduce((last, place, rank) => (place.startsWith(`${pointer}/`) ? rank : last), 0);

/** More than the steps to any place; than all orders in an item; than all in an array. */
const STEPS = 8, ITEM = 256, ITEMS = 2 ** 40;
/** How many words a problem has, and how many bytes. */
const WORDS = 4;
export const PROBLEM = 16;

/**
 * Reads problems out of the engine's memory.
 * @typedef {{issue: object, order: number}} Found
 * @param {Uint32Array} problems
 * @param {number} count
 * @param {(from: number, length: number) => string} part of the input: the name of an unknown member, or a number
 * @typedef {{rank: number, last: number, index: number}} Part of the request: the ranks in it, and the item that it lies in
 * @param {Part} [place] that alone is asked about
 * @returns {(Found | false)[]} as they lie there; false is no problem
 */
export function read(problems, count, part, place) {
  const found = [];
  for (let at = 0; found.length < count; at += WORDS) {
    const number = place?.index ?? problems[at + 1];
    const rank = problems[at] & 255, code = (problems[at] >> 8) & 255;
    const said = () => part(problems[at + 2], problems[at + 3]);
    const about = code === UNDECIDED ? decided(rank, Number(said())) : problems[at];
    const name = code === UNKNOWN_MEMBER ? said() : undefined;
    const isAsked = !place || (rank >= place.rank && rank <= place.last);
    found.push(about !== null && isAsked && { issue: issueOf(about, number, name), order: orderIn(about, number) });
  }
  return found;
}

/** A number whose digits decide whether a double can hold it; null when it is fine. */
function decided(rank, number) {
  if (number > 0 && number < Infinity) return null;
  return rank | ((Number.isFinite(number) ? NOT_POSITIVE : NOT_FINITE) << 8);
}

/** Its place in the schema's order, that of its item included. */
function orderIn(about, number) {
  const { item, order } = explained.get(about);
  return item < 0 ? order : order + (number + 1) * ITEM;
}

/**
 * @param {number} about a problem's rank and code, and what else its text is about
 * @param {number} number the item that it lies in, or the byte where JSON ends
 * @param {string} [name] an unknown member's, below the object that the numbers are about
 */
export function issueOf(about, number, name) {
  const { code, steps, item, pointer, text, isOpen } = explained.get(about) ?? explain(about);
  const path = steps.slice();
  if (item >= 0) path[item] = number;
  const issue = {
    path,
    pointer: item < 0 ? pointer[0] : pointer[0] + number + pointer[1],
    code,
    message: isOpen ? text + number : text,
  };
  if (name !== undefined) {
    path.push(name);
    issue.pointer += `/${/[~/]/.test(name) ? name.replace(/~/g, "~0").replace(/\//g, "~1") : name}`;
  }
  return issue;
}

/** The issues in the schema's order; those of one place stay as they are. @param {(Found | false)[]} found */
export const inOrder = (found) => found.filter(Boolean).sort((a, b) => a.order - b.order).map(({ issue }) => issue);
