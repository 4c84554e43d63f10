/* The validator's wasm and the area of its memory that is ours; `src/exports.rs` documents what lies where in it. */
import { instantiate } from "#instance";
import { compileAhead } from "#module";
import { ITEM, PROBLEM, TEXTS, UNDECIDED, UNKNOWN_MEMBER } from "../generated/tables.ts";
import { coder } from "../platform.ts";
import { KEPT, PAGE, PAGES, ROOM } from "./limits.ts";
import { issueOf, withCount, wrongNumber } from "./issues.ts";
import type { NewIssue } from "./types.ts";

/** What the wasm exports. */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  check_json(area: number, room: number, length: number, isValue: boolean, skip: number): number;
  check_formats(area: number, count: number, used: number): number;
}

export interface Instance extends Exports {
  /** Where the area begins in the memory. */
  readonly area: number;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly text: Uint8Array;
}

/** A part of the request: the ranks in it, and the item that it lies in. */
export interface Part {
  readonly rank: number;
  readonly last: number;
  readonly index: number | undefined;
}

/** The instance that nobody uses. */
let idle: Instance | undefined;

/**
 * The instance, made on first use, with an area of at least so many bytes; a getter of the value that is being checked
 * gets another. It is released only when all went well: the stack may overflow in the wasm, which leaves its memory in an
 * unknown state.
 */
export function acquire(size = 0): Instance {
  const acquired = (idle?.bytes.length as number) >= size ? (idle as Instance) : start(size);
  idle = undefined;
  return acquired;
}

export function release(instance: Instance): void {
  if (instance.bytes.length <= KEPT) idle = instance;
}

/**
 * Twice the room that is asked for, so that only much longer JSON needs a new instance. `bytes` and `words` are views of
 * the whole area, `text` is of what stands behind the words of texts.
 */
function start(size: number): Instance {
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
 * @param isValue whether it is a serialized value, and may hold markers
 * @param most the first issues in the schema's order; those of one place stay in the order of the JSON
 * @param part that alone is asked about
 */
export function checkJson(
  json: Uint8Array,
  isValue: boolean,
  most: number,
  part?: Part,
): NewIssue[] {
  const { length } = json;
  const room = ROOM + (length >> 4); // a few calls give all problems, however many there are
  const start = room * PROBLEM * 4;
  const instance = acquire(start + length * 2),
    { bytes, words } = instance;
  bytes.set(json, start);
  const textAt = (from: number, size: number) =>
    coder("TextDecoder").decode(bytes.subarray(start + from, start + from + size));
  const first: { order: number; issue: () => NewIssue }[] = [];
  let beyond = 0,
    skip = 0,
    left: number;

  const cut = () => (beyond += first.sort((a, b) => a.order - b.order).splice(most).length);

  /** Adds the problem that begins with this word, unless it lies elsewhere, or is a number that turns out to be fine. */
  function add(at: number): void {
    const low = words[at]!,
      high = words[at + 1]!,
      from = words[at + 3]!,
      size = words[at + 4]!;
    let about = words[at + 2]!;
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

/** Compiles the WebAssembly ahead. Never needed: it is compiled on first use. */
export async function ready(): Promise<void> {
  await compileAhead();
  release(acquire());
}
