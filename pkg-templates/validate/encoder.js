/**
 * The quick way: walks a value by the schema, each member read once, and leaves what it found in the engine's memory.
 * `src/validate/record.rs` says what the words mean. Whatever is odd (`toJSON`, getters that throw, values that JSON
 * has not, text beyond ASCII where a format is) ends the walk: the careful way is for it.
 */
import { BATCH, ROOM } from "../generated/tables.js";
import { TEXT_AT, atLeast, running, tidy } from "./engine.js";
import { inOrder, read } from "./issues.js";

/** Thrown where the careful way must go on. */
const ODD = {};
/** Up to so many characters are copied one by one: a call of the text encoder costs more. */
const FEW = 48;
/** In an object's word: another word says what is odd. */
const HAS_ODD = 1 << 31;
/** The most unknown members of an object that its word can count. */
const MOST_UNKNOWN = 14;

const { valueOf } = Object.prototype;
const encoder = new TextEncoder();

let engine, words, numbers, texts, bytes;
/** How many words, numbers and texts there are; the texts, one behind the other; whether all else is fine. */
let w, n, t, joined, isFine;
/** The names of unknown members, and how many of them are told. */
let unknown, told;
let issues, orders;
/** A getter may ask for a validation of its own, while this one is half done. */
let isBusy = false;

/** @returns the issues of a request; null where the careful way must find them */
export function quickly(value) {
  engine = running();
  if (isBusy) return null;
  isBusy = true;
  try {
    return walk(value);
  } catch {
    return null;
  } finally {
    isBusy = false;
    joined = unknown = issues = null;
  }
}

function walk(value) {
  if (!isObject(value)) throw ODD;
  issues = [];
  orders = null;
  rewind();
  writeRequest(value);
  check(0);
  return orders ? inOrder(issues, orders) : issues;
}

function rewind() {
  if (words !== engine.words) ({ words, numbers, texts, text: bytes } = engine);
  w = n = t = told = 0;
  joined = "";
  unknown = [];
  isFine = true;
}

/** Has the engine check what was written. @param {number} rank of the request, or of the array that it is about */
function check(rank) {
  copyText();
  const { run, area } = engine;
  try {
    if (isFine && run.validate_fine(area, n, t, joined.length)) return;
    const count = run.validate_records(area, rank, w, n, t, joined.length);
    if (count > ROOM) throw ODD;
    read(engine, count, () => unknown[told++], issues, orders);
  } catch (error) {
    if (error !== ODD) tidy(true);
    throw error;
  }
}

/** All formats are of ASCII: whatever is not is wrong, but there may be more to say about it. */
function copyText() {
  const { length } = joined;
  if (length > bytes.length) {
    engine = atLeast(TEXT_AT + length);
    bytes = engine.text;
  }
  if (length > FEW) {
    if (encoder.encodeInto(joined, bytes).written !== length) throw ODD;
    return;
  }
  for (let i = 0; i < length; i++) {
    const unit = joined.charCodeAt(i);
    if (unit > 127) throw ODD;
    bytes[i] = unit;
  }
}

/** The items of a long array, a batch at a time, before the request: so the memory stays small. @returns how many */
function ahead(array, rank, writeItem) {
  if (array.toJSON !== undefined) throw ODD;
  const { length } = array;
  let first = 0;
  for (; length - first > BATCH; first += BATCH) {
    writeItems(array, first, first + BATCH, writeItem);
    orders ??= [];
    check(rank);
    rewind();
  }
  return first;
}

/** The rest of an array's items, in their request. */
function writeArray(array, first, least, most, writeItem) {
  const { length } = array;
  if (length < least || length > most) isFine = false;
  words[w++] = length;
  writeItems(array, first, length, writeItem);
}

function writeItems(array, first, end, writeItem) {
  if (end - first > BATCH) throw ODD;
  words[w++] = first;
  words[w++] = end - first;
  for (let i = first; i < end; i++) writeItem(array[i]);
}

/** Something that is not what an item must be. */
function writeOddItem(item) {
  isFine = false;
  if (typeof item === "string") isText(item);
  words[w++] = kind(item);
}

/** What of an object's members is there, and what is odd. */
function writeWord(there, odd) {
  words[w++] = odd ? there | HAS_ODD : there;
  if (!odd) return;
  isFine = false;
  words[w++] = odd;
}

function writeText(text, format) {
  texts[t++] = (text.length << 2) | format;
  joined += text;
}

/** The names of an object's unknown members so far; one that is `undefined` is absent. */
function withUnknown(names, name, value) {
  if (value === undefined) return names;
  if (kind(value) && isText(name) && names?.length >= MOST_UNKNOWN) throw ODD;
  return names ? [...names, name] : [name];
}

/** 1 more than the number of the type that a value is of, instead of the one that it must be of. */
function kind(value) {
  switch (typeof value) {
    case "boolean":
      return 2;
    case "number":
      return 3;
    case "string":
      return 4;
    default:
      if (value === null) return 1;
      throw ODD;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A string; one with half of a surrogate pair is odd. */
const isText = "".isWellFormed
  ? (value) => typeof value === "string" && (value.isWellFormed() || isOdd())
  : (value) => typeof value === "string" && (!/\p{Surrogate}/u.test(value) || isOdd());

function isOdd() {
  throw ODD;
}

// What follows is generated from src/schema.rs: `UPDATE=1 cargo test --test generated` writes it anew.

function writeRequest(value) {
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
  let there = 0, odd = 0;
  if (isText(a)) there |= 1;
  else if (a !== undefined) odd |= kind(a);
  if (isObject(b)) there |= 2;
  else if (b !== undefined) odd |= kind(b) << 4;
  if (Array.isArray(c)) there |= 4;
  else if (c !== undefined) odd |= kind(c) << 8;
  if (isObject(d)) there |= 8;
  else if (d !== undefined) odd |= kind(d) << 12;
  if (Array.isArray(e)) there |= 16;
  else if (e !== undefined) odd |= kind(e) << 16;
  const cFirst = there & 4 ? ahead(c, 6, writePledge) : 0;
  const eFirst = there & 16 ? ahead(e, 23, writeNotification) : 0;
  if (names) odd |= names.length << 28;
  if ((there & 7) !== 7) isFine = false;
  writeWord(there, odd);
  if (there & 2) writeRecipient(b);
  if (there & 4) writeArray(c, cFirst, 1, Infinity, writePledge);
  if (there & 8) writeTrigger(d);
  if (there & 16) writeArray(e, eFirst, 0, 3, writeNotification);
  if (names) unknown.push(...names);
}

function writeRecipient(value) {
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
  let there = 0, odd = 0;
  if (typeof a === "string") there |= 1;
  else if (a !== undefined) odd |= kind(a);
  if (isText(b)) there |= 2;
  else if (b !== undefined) odd |= kind(b) << 4;
  if (isText(c)) there |= 4;
  else if (c !== undefined) odd |= kind(c) << 8;
  if (names) odd |= names.length << 28;
  if ((there & 1) !== 1) isFine = false;
  writeWord(there, odd);
  if (there & 1) writeText(a, 1);
  if (names) unknown.push(...names);
}

function writePledge(item) {
  if (isObject(item)) {
    words[w++] = 0;
    writePledgeMembers(item);
  } else writeOddItem(item);
}

function writePledgeMembers(value) {
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
  let there = 0, odd = 0;
  if (isObject(a)) there |= 1;
  else if (a !== undefined) odd |= kind(a);
  if (isObject(b)) there |= 2;
  else if (b !== undefined) odd |= kind(b) << 4;
  if (names) odd |= names.length << 28;
  if ((there & 1) !== 1) isFine = false;
  writeWord(there, odd);
  if (there & 1) writeImpact(a);
  if (there & 2) writeDetail(b);
  if (names) unknown.push(...names);
}

function writeImpact(value) {
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
  let there = 0, odd = 0;
  if (typeof a === "number") there |= 1;
  else if (a !== undefined) odd |= kind(a);
  if (isText(b)) there |= 2;
  else if (b !== undefined) odd |= kind(b) << 4;
  if (names) odd |= names.length << 28;
  if ((there & 3) !== 3) isFine = false;
  writeWord(there, odd);
  if (there & 1) numbers[n++] = a;
  if (names) unknown.push(...names);
}

function writeDetail(value) {
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
  let there = 0, odd = 0;
  if (isText(a)) there |= 1;
  else if (a !== undefined) odd |= kind(a);
  if (isText(b)) there |= 2;
  else if (b !== undefined) odd |= kind(b) << 4;
  if (isText(c)) there |= 4;
  else if (c !== undefined) odd |= kind(c) << 8;
  if (isText(d)) there |= 8;
  else if (d !== undefined) odd |= kind(d) << 12;
  if (typeof e === "string") there |= 16;
  else if (e !== undefined) odd |= kind(e) << 16;
  if (isText(f)) there |= 32;
  else if (f !== undefined) odd |= kind(f) << 20;
  if (typeof g === "string") there |= 64;
  else if (g !== undefined) odd |= kind(g) << 24;
  if (names) odd |= names.length << 28;
  writeWord(there, odd);
  if (there & 16) writeText(e, 2);
  if (there & 64) writeText(g, 2);
  if (names) unknown.push(...names);
}

function writeTrigger(value) {
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
  let there = 0, odd = 0;
  if (typeof a === "string") there |= 1;
  else if (a !== undefined) odd |= kind(a);
  if (isText(b)) there |= 2;
  else if (b !== undefined) odd |= kind(b) << 4;
  if (typeof c === "string") there |= 4;
  else if (c !== undefined) odd |= kind(c) << 8;
  if (names) odd |= names.length << 28;
  writeWord(there, odd);
  if (there & 1) writeText(a, 3);
  if (there & 4) writeText(c, 2);
  if (names) unknown.push(...names);
}

function writeNotification(item) {
  if (item === "Email" || item === "MessagingServiceA" || item === "MessagingServiceB" || item === "MessagingServiceC") {
    words[w++] = 0;
  } else writeOddItem(item);
}
