/** What the generated encoder writes on, and what it asks about a value. */
import { TEXT_AT, atLeast, running } from "./engine.js";
import { Issues } from "./issues.js";
import { ROOM } from "../generated/tables.js";

/** Thrown where a value is not what the encoder takes: the careful way is for it then. */
export const ODD = {};

/** Up to so many characters, copying them one by one is quicker than a call of the encoder's. */
const FEW = 40;

const encoder = new TextEncoder();

/** @type {{words: Uint32Array, numbers: Float64Array, w: number, n: number, text: string}} */
export const tape = { words: null, numbers: null, w: 0, n: 0, t: 0, text: "", fine: true, texts: null, names: [], issues: null };

/** 1 more than the number of the type that stands where another must. */
export function kind(value) {
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

/** An unknown member: nothing if it is absent, for `undefined` is. @returns the names so far */
export function extra(value, name, names) {
  if (value === undefined) return names;
  kind(value);
  if (!wellFormed(name) || names?.length > 13) throw ODD;
  return names ? [...names, name] : [name];
}

export const wellFormed = (text) => (text.isWellFormed ? text.isWellFormed() : !/\p{Surrogate}/u.test(text));

/** Begins a tape. */
export function rewind() {
  ({ words: tape.words, numbers: tape.numbers, texts: tape.texts } = running());
  tape.w = tape.n = tape.t = 0;
  tape.fine = true;
  tape.text = "";
  if (tape.names.length) tape.names = [];
  tape.issues = null;
}

/** Copies the text into the engine's memory. All formats are ASCII: whatever is not goes the careful way. */
export function copyText() {
  const { text } = tape;
  const { length } = text;
  atLeast(TEXT_AT + length);
  const { bytes } = running();
  if (length > FEW) {
    if (encoder.encodeInto(text, bytes.subarray(TEXT_AT)).written !== length) throw ODD;
    return;
  }
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 127) throw ODD;
    bytes[TEXT_AT + i] = unit;
  }
}

const BATCH = 64;

export function text(string, format) {
  tape.texts[tape.t++] = (string.length << 2) | format;
  tape.text += string;
}

export function check(rank) {
  copyText();
  const { records, fine, area } = running();
  if (!(tape.fine && fine(area, tape.n, tape.t, tape.text.length))) {
    const count = records(area, rank, tape.w, tape.n, tape.t, tape.text.length);
    if (count > ROOM) throw ODD;
    let next = 0;
    (tape.issues ??= new Issues()).read(count, () => tape.names[next++]);
    tape.names.length = 0;
    tape.fine = true;
  }
  tape.w = tape.n = tape.t = 0;
  tape.text = "";
}

export function ahead(array, rank, item) {
  if (array.toJSON !== undefined) throw ODD;
  const { length } = array;
  let first = 0;
  for (; length - first > BATCH; first += BATCH) {
    const { words } = tape;
    words[tape.w++] = first;
    words[tape.w++] = BATCH;
    for (let i = first; i < first + BATCH; i++) item(array[i]);
    check(rank);
    if (tape.words !== running().words) ({ words: tape.words, numbers: tape.numbers, texts: tape.texts } = running());
  }
  return first;
}
