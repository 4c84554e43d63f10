/** Places of the request by their RFC 6901 pointers. */
import { CODES, MESSAGES, PLACES, REQUIRED, REQUIRED_MEMBER, UNKNOWN_POINTER } from "../generated/tables.js";
import { issueOf, lastIn } from "./issues.js";

/** What a 32-bit index can be, without leading zeros. */
const INDEX = /^(0|[1-9]\d{0,9})$/;

/**
 * @returns the place, what stands before and after its value in a request that has nothing else, and how deep it lies;
 *   undefined when the request has no such
 */
export function placeOf(pointer) {
  let index = 0;
  const steps = pointer.split("/").map((step) => {
    if (!INDEX.test(step) || step >= 2 ** 32) return step;
    index = Number(step);
    return "*";
  });
  const rank = pointer.includes("*") ? -1 : PLACES.indexOf(steps.join("/"));
  if (rank < 0) return undefined;
  const around = (item, member) => steps.slice(1).map((step) => (step === "*" ? item : member(step)));
  const before = around("[", (step) => `{"${step}":`).join("");
  const after = around("]", () => "}").reverse().join("");
  return { rank, last: Math.max(rank, lastIn(PLACES[rank])), index, before, after, depth: steps.length - 1 };
}

/** That there is no such place. */
export function issuesAbout(pointer) {
  const path = pointer.split("/").slice(1).map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));
  return [{ path, pointer, code: CODES[UNKNOWN_POINTER], message: MESSAGES[UNKNOWN_POINTER] }];
}

/** That nothing is there; nothing at all where nothing need be. An item, or the whole request, is none of these. */
export function issuesWithout({ rank, index }) {
  if (rank === 0 || PLACES[rank].endsWith("*")) return undefined;
  return (REQUIRED >> rank) & 1 ? [issueOf(rank | (REQUIRED_MEMBER << 8), index)] : [];
}
