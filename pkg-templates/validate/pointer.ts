/* The nodes of the request, found by RFC 6901 pointers. */
import { UNKNOWN_POINTER } from "#kinds";
import { POINTERS, REQUIRED } from "../generated/tables.ts";
import { lastIn } from "./issues.ts";
import type { NewIssue } from "./types.ts";
import type { Part } from "./wasm.ts";

/** A part of the request, found by its JSON Pointer. */
interface PointedPart extends Part {
  /**
   * The JSON before the part's value, in a request with only this value. `after` is the JSON after the value.
   */
  readonly before: string;
  readonly after: string;
  /** The number of steps from the request to the part, such as 2 for `/recipient/email`. */
  readonly depth: number;
  /** Whether the part can be absent. The request itself and items of arrays cannot. */
  readonly isOptional: boolean;
}

/** Returns the part at a pointer; undefined if the contract has no such part. */
export function partAt(pointer: string): PointedPart | undefined {
  let item: number | undefined,
    before = "",
    after = "";
  const [root, ...steps] = pointer.split("/");
  const names = steps.map((step) => {
    const isIndex = String((step as unknown as number) >>> 0) === step; // of 32 bits, without leading zeros
    if (isIndex) item = Number(step);
    before += isIndex ? "[" : `{"${step}":`;
    after = (isIndex ? "]" : "}") + after;
    return isIndex ? "*" : step;
  });
  const index = steps.includes("*") ? -1 : POINTERS.indexOf([root, ...names].join("/"));
  return index < 0
    ? undefined
    : {
        index,
        last: Math.max(index, lastIn(POINTERS[index]!)),
        item,
        before,
        after,
        depth: steps.length,
        isOptional: !((REQUIRED >> index) & 1),
      };
}

/** Returns the issue for a pointer that leads to no part of the contract. */
export function unknownPointer(pointer: string): NewIssue[] {
  const path = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [code, message] = UNKNOWN_POINTER;
  return [{ path, pointer, code, message: message as string, meta: {} }];
}
