/* Parts of the request by their RFC 6901 pointers. */
import { UNKNOWN_POINTER } from "#kinds";
import { PLACES, REQUIRED, REQUIRED_MEMBER } from "../generated/tables.ts";
import { issueOf, lastIn } from "./issues.ts";
import type { NewIssue } from "./types.ts";
import type { Part } from "./wasm.ts";

/** A part of the request that a pointer leads to. */
interface Place extends Part {
  /** What stands before and after its value in a request that has nothing else. */
  readonly before: string;
  readonly after: string;
  /** How many steps lead to it. */
  readonly depth: number;
}

/** Undefined when the request has no such place. */
export function placeOf(pointer: string): Place | undefined {
  let index: number | undefined,
    before = "",
    after = "";
  const [root, ...steps] = pointer.split("/");
  const places = steps.map((step) => {
    const isIndex = String((step as unknown as number) >>> 0) === step; // of 32 bits, without leading zeros
    if (isIndex) index = Number(step);
    before += isIndex ? "[" : `{"${step}":`;
    after = (isIndex ? "]" : "}") + after;
    return isIndex ? "*" : step;
  });
  const rank = steps.includes("*") ? -1 : PLACES.indexOf([root, ...places].join("/"));
  return rank < 0
    ? undefined
    : {
        rank,
        last: Math.max(rank, lastIn(PLACES[rank]!)),
        index,
        before,
        after,
        depth: steps.length,
      };
}

/** That there is no such place. */
export function issuesAbout(pointer: string): NewIssue[] {
  const path = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [code, message] = UNKNOWN_POINTER;
  return [{ path, pointer, code, message: message as string, meta: {} }];
}

/** That nothing is there; nothing at all where nothing need be. An item, or the whole request, is none of these. */
export function issuesWithout({ rank, index }: Place): NewIssue[] | undefined {
  if (rank === 0 || PLACES[rank]!.endsWith("*")) return undefined;
  return (REQUIRED >> rank) & 1 ? [issueOf(rank | (REQUIRED_MEMBER << 8), index!)] : [];
}
