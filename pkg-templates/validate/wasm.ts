/* The validator's WebAssembly, and the area of its memory for input and output. `src/doors/validator.rs` documents the layout. */
import { instantiate } from "#instance";
import { compileAhead } from "#module";
import { ITEM_SHIFT, ISSUE_WORDS, UNDECIDED, UNKNOWN_MEMBER } from "../generated/tables.ts";
import { coder } from "../platform.ts";
import type { Exports, Rules } from "./exports.ts";
import { KEPT, PAGE, PAGES, ROOM } from "./limits.ts";
import { issueOf, withCount, wrongNumber } from "./issues.ts";
import type { NewIssue } from "./types.ts";

interface Instance extends Exports {
  /** The address of the area for input and output in the module's memory. */
  readonly area: number;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
}

/** A node of the request and all nodes below it. */
export interface Part {
  /** The node's index in the schema's tree. `last` is the index of the last node below it. */
  readonly index: number;
  readonly last: number;
  /** The position of the array item that contains the node, if any. */
  readonly item: number | undefined;
}

/** An instance of the WebAssembly that is free for the next check. */
let idle: Instance | undefined;

let makeInstance = instantiate;

/** Uses other rules, such as those in plain JavaScript, for all instances that are created from now on. */
export function useRules(rules: Rules): void {
  makeInstance = rules.instantiate;
}

/**
 * Returns the free instance, or a new one, with an area of at least `size` bytes for input and output. The
 * caller releases the instance after success, but never after an error. A stack overflow inside WebAssembly
 * leaves the instance's memory in an unknown state.
 */
function acquire(size = 0): Instance {
  const acquired = (idle?.bytes.length as number) >= size ? (idle as Instance) : start(size);
  idle = undefined;
  return acquired;
}

function release(instance: Instance): void {
  if (instance.bytes.length <= KEPT) idle = instance;
}

/**
 * Creates an instance with an area of twice `size` bytes, so that only much longer JSON needs another
 * instance. `bytes` and `words` are views of the area.
 */
function start(size: number): Instance {
  const exports = makeInstance();
  const area = exports.memory.grow(PAGES + (size >> 15)) * PAGE;
  const { buffer } = exports.memory;
  return {
    ...exports,
    area,
    bytes: new Uint8Array(buffer, area),
    words: new Uint32Array(buffer, area),
  };
}

/**
 * Checks whether a text has a format, which is given by its number. Returns 0 if the text has it, otherwise
 * the number of an issue code. Passes each character as one byte, because no format allows characters beyond
 * ASCII.
 */
export function checkFormat(text: string, format: number): number {
  const instance = acquire(),
    { bytes } = instance;
  for (let i = 0; i < text.length; i++) bytes[i] = Math.min(text.charCodeAt(i), 255);
  const code = instance.check_format(instance.area, text.length, format);
  release(instance);
  return code;
}

/** Checks a text of any length against a format, like `checkFormat`. */
export function checkLongFormat(text: string, format: number): number {
  idle = acquire(text.length);
  return checkFormat(text, format);
}

/**
 * Checks a request given as JSON.
 * @param isValue whether the JSON is a serialized JavaScript value, which may contain markers for values that
 *   JSON does not have
 * @param most the number of issues to keep. The first ones in the schema's order are kept, and those of one node
 *   in the order of the JSON
 * @param part if given, only issues of this part are kept
 */
export function checkJson(
  json: Uint8Array,
  isValue: boolean,
  most: number,
  part?: Part,
): NewIssue[] {
  const { length } = json;
  const room = ROOM + (length >> 4); // so that a few calls return any number of issues
  const start = room * ISSUE_WORDS * 4;
  const instance = acquire(start + length * 2),
    { bytes, words } = instance;
  bytes.set(json, start);
  const textAt = (from: number, size: number) =>
    coder("TextDecoder").decode(bytes.subarray(start + from, start + from + size));
  /** The first issues in the schema's order, with their sort keys. */
  const first: { key: number; issue: () => NewIssue }[] = [];
  let beyond = 0,
    skip = 0,
    left: number;

  const cut = () => (beyond += first.sort((a, b) => a.key - b.key).splice(most).length);

  /**
   * Adds the issue that begins at this word of the output. Skips an issue of a node outside `part`, and an
   * issue about a number that JavaScript's own conversion accepts.
   */
  function add(at: number): void {
    const low = words[at]!,
      high = words[at + 1]!,
      from = words[at + 3]!,
      size = words[at + 4]!;
    let about = words[at + 2]!;
    const index = about & 255,
      code = (about >> 8) & 255;
    if (part && (index < part.index || index > part.last)) return;
    if (code === UNDECIDED) {
      const number = Number(textAt(from, size));
      if (number > 0 && number < Infinity) return;
      about = index | (wrongNumber(number) << 8);
    }
    // The only issue of the request itself that has a number is malformed JSON: the byte offset.
    const number =
      part?.item ?? (index ? ((high << (32 - ITEM_SHIFT)) | (low >>> ITEM_SHIFT)) - 1 : from);
    // The name is decoded with its quotes, because a decoder removes a byte order mark at the beginning.
    const issue = () =>
      issueOf(
        about,
        number,
        code === UNKNOWN_MEMBER ? JSON.parse(textAt(from - 1, size + 2)) : undefined,
      );
    if (first.push({ key: high * 2 ** 32 + low, issue }) > most * 2) cut();
  }

  do {
    left = instance.check_json(instance.area, room, length, isValue, skip);
    for (let i = 0; i < room && i < left; i++) add(i * ISSUE_WORDS);
    skip += room;
  } while (left > room);
  cut();
  const issues = first.map(({ issue }) => issue());
  release(instance);
  return withCount(issues, beyond);
}

/**
 * Compiles the WebAssembly before the first check, off the main thread if the platform can. Calling it is
 * optional: without it, the first check that needs the WebAssembly compiles it.
 *
 * @throws {Error} if there is no WebAssembly, or a Content-Security-Policy forbids it
 */
export async function ready(): Promise<void> {
  await compileAhead();
  release(acquire());
}
