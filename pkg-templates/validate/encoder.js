/**
 * The quick way: walks a value by the schema, each member read once. What breaks a rule of shape becomes an issue on the
 * spot; texts that have a format are collected for the engine, which judges many in one call, and what it finds takes
 * its place among the others. Whatever is odd (`toJSON`, getters that throw, values that JSON has not, text beyond ASCII
 * where a format is) ends the walk: the careful way is for it.
 */
import { LENGTH, NOT_ALLOWED, NOT_FINITE, NOT_POSITIVE, REQUIRED, REQUIRED_MEMBER, TEXTS, TOO_FEW_ITEMS, TOO_MANY_ITEMS, UNKNOWN_MEMBER } from "../generated/tables.js";
import { MANY, running, tidy } from "./engine.js";
import { issueOf } from "./issues.js";

/** Browsers take longer to call some functions of their own than to do the same in JavaScript. */
const IN_PAGE = typeof document === "object";
/** So many characters are copied one by one there. */
const FEW = 2048;
const SURROGATE = /[\ud800-\udfff]/;
/** Thrown where the careful way must go on. */
const ODD = {};

const { valueOf } = Object.prototype;
export const encoder = new TextEncoder();

let engine, words, bytes;
/** What was found so far, in the schema's order, and the item that the walk is in. */
let issues, item;
/** The texts, one behind the other, and how many characters they have; of each its item, and how many issues come before its own. */
let joined, used, count;
const items = [], before = [];
/** A getter may ask for a validation of its own, while this one is half done. */
let isBusy = false;

/** @returns the issues of a request; null where the careful way must find them */
export function quickly(value) {
  if (isBusy) return null;
  isBusy = true;
  try {
    return walk(value);
  } catch {
    return null;
  } finally {
    isBusy = false;
    joined = issues = null;
  }
}

function walk(value) {
  ({ words, text: bytes } = engine = running());
  if (!isObject(value)) throw ODD;
  issues = [];
  joined = "";
  item = count = used = 0;
  walkRequest(value);
  judge();
  return issues;
}

/** A text that has a format. @param {number} word that format, and the rank of its place */
function addText(text, word) {
  if (count === TEXTS || used > MANY) judge();
  const size = text.length;
  if (size > MANY) throw ODD;
  words[count] = (size << LENGTH) | word;
  items[count] = item;
  before[count++] = issues.length;
  if (IN_PAGE && used < FEW) copy(text, size, bytes, used);
  else joined += text;
  used += size;
}

/** Character by character: a page's encoder takes longer to call. */
function copy(text, size, area, at) {
  let all = 0;
  for (let i = 0; i < size; i++) all |= area[at + i] = text.charCodeAt(i);
  if (all > 127) throw ODD;
}

/** Has the engine judge the texts: the last first, so that each issue is put where it belongs. */
function judge() {
  copyText();
  if (isWrong()) {
    while (count--) {
      if (!words[count]) continue;
      let at = issues.length; // quicker than `splice` where little follows
      while (at > before[count]) issues[at] = issues[--at];
      issues[at] = issueOf(words[count], items[count]);
    }
  }
  count = used = 0;
  joined = "";
}

/** The engine does not throw by itself, but the stack may be at its end. */
function isWrong() {
  try {
    return engine.run.validate_texts(engine.area, count, used);
  } catch (error) {
    tidy(true);
    throw error;
  }
}

/** All formats are of ASCII: whatever is not is wrong, but there may be more to say about it. */
function copyText() {
  const rest = joined.length;
  if (rest && encoder.encodeInto(joined, rest < used ? bytes.subarray(used - rest) : bytes).written !== rest) throw ODD;
}

function walkItems(array, rank, least, most, itemRank, isItem, walkItem) {
  if (array.toJSON !== undefined) throw ODD;
  const { length } = array;
  if (length < least) tell(rank, TOO_FEW_ITEMS);
  if (length > most) tell(rank, TOO_MANY_ITEMS);
  for (item = 0; item < length; item++) {
    const value = array[item];
    if (isItem(value)) walkItem(value);
    else tell(itemRank, kind(value) << 8);
  }
}

function checkNumber(number, rank) {
  if (!(number > 0 && number < Infinity)) tell(rank, Number.isFinite(number) ? NOT_POSITIVE : NOT_FINITE);
}

function notAllowed(text, rank) {
  if (isText(text)) tell(rank, NOT_ALLOWED);
}

/** A member that is not of its type, or absent. */
function wrong(value, rank) {
  if (value !== undefined) tell(rank, kind(value) << 8);
  else if ((REQUIRED >> rank) & 1) tell(rank, REQUIRED_MEMBER);
}

/** @param {number} code and above its byte what its text is about */
function tell(rank, code, name) {
  issues.push(issueOf(rank | (code << 8), item, name));
}

/** The names of an object's unknown members so far; one that is `undefined` is absent. */
function withUnknown(names, name, value) {
  if (value === undefined) return names;
  kind(value);
  isText(name);
  return [...(names ?? []), name];
}

function tellUnknown(names, rank) {
  for (const name of names) tell(rank, UNKNOWN_MEMBER, name);
}

/** The number of the type that a value is of, instead of the one that it must be of. */
function kind(value) {
  return value === null ? 0 : ["boolean", "number", "string"].indexOf(typeof value) + 1 || isOdd();
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isString = (value) => typeof value === "string";

/** A string; one with half of a surrogate pair is odd. So is any to an engine that cannot tell. */
const isText = (value) => typeof value === "string" && ((IN_PAGE && !SURROGATE.test(value)) || value.isWellFormed() || isOdd());

function isOdd() {
  throw ODD;
}

// What follows is generated from src/schema.rs: `UPDATE=1 cargo test --test generated` writes it anew.

function walkRequest(value) {
  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;
  let a, b, c, d, e, names;
  for (const name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "reference":
        a = value.reference;
        break;
      case "recipient":
        b = value.recipient;
        break;
      case "pledges":
        c = value.pledges;
        break;
      case "trigger":
        d = value.trigger;
        break;
      case "notifications":
        e = value.notifications;
        break;
      default:
        names = withUnknown(names, name, value[name]);
    }
  }
  if (!isText(a)) wrong(a, 1);
  if (isObject(b)) walkRecipient(b);
  else wrong(b, 2);
  if (Array.isArray(c)) walkItems(c, 6, 1, Infinity, 7, isObject, walkPledge);
  else wrong(c, 6);
  if (isObject(d)) walkTrigger(d);
  else wrong(d, 19);
  if (Array.isArray(e)) walkItems(e, 23, 0, 3, 24, isString, walkNotification);
  else wrong(e, 23);
  if (names) tellUnknown(names, 0);
}

function walkRecipient(value) {
  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;
  let a, b, c, names;
  for (const name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "email":
        a = value.email;
        break;
      case "firstName":
        b = value.firstName;
        break;
      case "name":
        c = value.name;
        break;
      default:
        names = withUnknown(names, name, value[name]);
    }
  }
  if (typeof a === "string") addText(a, 35);
  else wrong(a, 3);
  if (!isText(b)) wrong(b, 4);
  if (!isText(c)) wrong(c, 5);
  if (names) tellUnknown(names, 2);
}

function walkPledge(value) {
  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;
  let a, b, names;
  for (const name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "impact":
        a = value.impact;
        break;
      case "detail":
        b = value.detail;
        break;
      default:
        names = withUnknown(names, name, value[name]);
    }
  }
  if (isObject(a)) walkImpact(a);
  else wrong(a, 8);
  if (isObject(b)) walkDetail(b);
  else wrong(b, 11);
  if (names) tellUnknown(names, 7);
}

function walkImpact(value) {
  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;
  let a, b, names;
  for (const name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "amount":
        a = value.amount;
        break;
      case "offeringId":
        b = value.offeringId;
        break;
      default:
        names = withUnknown(names, name, value[name]);
    }
  }
  if (typeof a === "number") checkNumber(a, 9);
  else wrong(a, 9);
  if (!isText(b)) wrong(b, 10);
  if (names) tellUnknown(names, 8);
}

function walkDetail(value) {
  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;
  let a, b, c, d, e, f, g, names;
  for (const name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "name":
        a = value.name;
        break;
      case "description":
        b = value.description;
        break;
      case "nounSingular":
        c = value.nounSingular;
        break;
      case "nounPlural":
        d = value.nounPlural;
        break;
      case "image":
        e = value.image;
        break;
      case "externalId":
        f = value.externalId;
        break;
      case "externalUrl":
        g = value.externalUrl;
        break;
      default:
        names = withUnknown(names, name, value[name]);
    }
  }
  if (!isText(a)) wrong(a, 12);
  if (!isText(b)) wrong(b, 13);
  if (!isText(c)) wrong(c, 14);
  if (!isText(d)) wrong(d, 15);
  if (typeof e === "string") addText(e, 80);
  else wrong(e, 16);
  if (!isText(f)) wrong(f, 17);
  if (typeof g === "string") addText(g, 82);
  else wrong(g, 18);
  if (names) tellUnknown(names, 11);
}

function walkTrigger(value) {
  if (value.toJSON !== undefined || value.valueOf !== valueOf) throw ODD;
  let a, b, c, names;
  for (const name in value) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    switch (name) {
      case "date":
        a = value.date;
        break;
      case "phrase":
        b = value.phrase;
        break;
      case "externalUrl":
        c = value.externalUrl;
        break;
      default:
        names = withUnknown(names, name, value[name]);
    }
  }
  if (typeof a === "string") addText(a, 116);
  else wrong(a, 20);
  if (!isText(b)) wrong(b, 21);
  if (typeof c === "string") addText(c, 86);
  else wrong(c, 22);
  if (names) tellUnknown(names, 19);
}

function walkNotification(text) {
  if (text !== "Email" && text !== "MessagingServiceA" && text !== "MessagingServiceB" && text !== "MessagingServiceC") notAllowed(text, 24);
}
