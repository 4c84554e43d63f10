/** The validator's wasm and the area of its memory that is ours; `src/exports.rs` documents what lies where in it. */
import { instantiate } from "#instance";
import { compileAhead } from "#module";
import { ITEM, PROBLEM, TEXTS, UNDECIDED, UNKNOWN_MEMBER } from "../generated/tables.js";
import { coder } from "../platform.js";
import { KEPT, PAGE, PAGES, ROOM } from "./limits.js";
import { issueOf, withCount, wrongNumber } from "./issues.js";

/** The instance that nobody uses. */
let idle;

/**
 * The instance, made on first use, with an area of at least so many bytes; a getter of the value that is being checked
 * gets another. It is released only when all went well: the stack may overflow in the wasm, which leaves its memory in an
 * unknown state.
 */
export function acquire(size = 0) {
  const acquired = idle?.bytes.length >= size ? idle : start(size);
  idle = undefined;
  return acquired;
}

export function release(instance) {
  if (instance.bytes.length <= KEPT) idle = instance;
}

/**
 * Twice the room that is asked for, so that only much longer JSON needs a new instance. `bytes` and `words` are views of
 * the whole area, `text` is of what stands behind the words of texts.
 */
function start(size) {
  const exports = instantiate();
  const area = exports.memory.grow(PAGES + (size >> 15)) * PAGE;
  const { buffer } = exports.memory;
  return {
    ...exports,
    area,
    bytes: new Uint8Array(buffer, area),
    words: new Uint32Array(buffer, area),
    text: new Uint8Array(buffer, area + TEXTS * 4),
  };
}

/**
 * The issues of a request that is JSON.
 * @param {Uint8Array} json
 * @param {boolean} isValue whether it is a serialized value, and may hold markers
 * @param {number} most the first issues in the schema's order; those of one place stay in the order of the JSON
 * @typedef {{rank: number, last: number, index: number}} Part of the request: the ranks in it, and the item that it lies in
 * @param {Part} [part] that alone is asked about
 */
export function checkJson(json, isValue, most, part) {
  const { length } = json;
  const room = ROOM + (length >> 4); // a few calls give all problems, however many there are
  const start = room * PROBLEM * 4;
  const instance = acquire(start + length * 2),
    { bytes, words } = instance;
  bytes.set(json, start);
  const textAt = (from, size) =>
    coder("TextDecoder").decode(bytes.subarray(start + from, start + from + size));
  const first = [];
  let beyond = 0,
    skip = 0,
    left;

  const cut = () => (beyond += first.sort((a, b) => a.order - b.order).splice(most).length);

  /** Adds the problem that begins with this word, unless it lies elsewhere, or is a number that turns out to be fine. */
  function add(at) {
    const low = words[at],
      high = words[at + 1],
      from = words[at + 3],
      size = words[at + 4];
    let about = words[at + 2];
    const rank = about & 255,
      code = (about >> 8) & 255;
    if (part && (rank < part.rank || rank > part.last)) return;
    if (code === UNDECIDED) {
      const number = Number(textAt(from, size));
      if (number > 0 && number < Infinity) return;
      about = rank | (wrongNumber(number) << 8);
    }
    // Of the request itself, the only issue with a number says where JSON ends.
    const number = part?.index ?? (rank ? ((high << (32 - ITEM)) | (low >>> ITEM)) - 1 : from);
    // A name with its quotes: a decoder takes a byte order mark at the beginning for none of the text.
    const issue = () =>
      issueOf(
        about,
        number,
        code === UNKNOWN_MEMBER ? JSON.parse(textAt(from - 1, size + 2)) : undefined,
      );
    if (first.push({ order: high * 2 ** 32 + low, issue }) > most * 2) cut();
  }

  do {
    left = instance.check_json(instance.area, room, length, isValue, skip);
    for (let i = 0; i < room && i < left; i++) add(i * PROBLEM);
    skip += room;
  } while (left > room);
  cut();
  const issues = first.map(({ issue }) => issue());
  release(instance);
  return withCount(issues, beyond);
}

/** Compiles ahead of the first call. Never needed: whoever does not call this has it done on first use. */
export async function ready() {
  await compileAhead();
  release(acquire());
}
