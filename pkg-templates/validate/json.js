/** JSON text of a request through the engine. */
import { atLeast, tidy } from "./engine.js";
import { PROBLEM, inOrder, read } from "./issues.js";

/** So many problems are kept at first; with more, it is all done again. */
const ROOM = 256;
const decoder = new TextDecoder();

/**
 * @param {Uint8Array} json
 * @param {boolean} isValue whether it was made of a value, and may hold what JSON has no word for
 * @param {import("./issues.js").Part} [place] that alone is asked about
 */
export function issuesOfJson(json, isValue, place) {
  try {
    return check(json, isValue, place, ROOM);
  } catch (error) {
    tidy(true); // the engine does not throw by itself, but the stack may be at its end
    throw error;
  } finally {
    tidy();
  }
}

function check(json, isValue, place, room) {
  const at = room * PROBLEM, { length } = json;
  const engine = atLeast(at + length * 2);
  engine.bytes.set(json, at);
  const count = engine.run.validate_json(engine.area, room, length, isValue);
  if (count > room) return check(json, isValue, place, count);
  const part = (from, size) => text(engine.bytes.subarray(at + from, at + from + size));
  return inOrder(read(engine.words, count, part, place));
}

/** What a name or a number in the JSON says. */
const text = (bytes) => JSON.parse(`"${decoder.decode(bytes)}"`);
