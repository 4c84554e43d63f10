/* Builds issues from the numbers of compact issues. */
import { KINDS } from "#kinds";
import {
  INVALID_TYPE,
  MORE_ISSUES,
  NOT_FINITE,
  NOT_POSITIVE,
  POINTERS,
  TYPES,
  UNKNOWN_MEMBER,
} from "../generated/tables.ts";
import type { IssueMeta, Kind, NewIssue } from "./types.ts";

/**
 * A cache of the explanations of issues. The key is a number that contains the node, the code and the detail.
 */
const explained = new Map<number, Explanation>();

interface Explanation {
  readonly code: Kind[0];
  readonly steps: readonly string[];
  /**
   * The part of a JSON Pointer before the position of an array item; `tail` is the part after the position.
   * If the pointer has no array item, `head` is the whole pointer.
   */
  readonly head: string;
  readonly tail: string | undefined;
  readonly text: string;
  /** Whether a number must be appended to the message. */
  readonly isOpen: boolean;
  readonly meta: IssueMeta;
}

function explain(about: number): Explanation {
  const index = about & 255,
    kind = (about >> 8) & 255,
    detail = about >> 16,
    pattern = POINTERS[index]!;
  const [head, tail] = pattern.split("*") as [string, string?],
    [code, message, limits] = KINDS[kind]!;
  const text = textOf(index, kind, detail, message),
    meta = Object.freeze(metaOf(index, kind, text, limits));
  const explanation = {
    code,
    steps: pattern.split("/").slice(1),
    head,
    tail,
    text,
    isOpen: text.endsWith(" "),
    meta,
  };
  explained.set(about, explanation);
  return explanation;
}

function textOf(index: number, kind: number, detail: number, message: Kind[1]): string {
  if (kind === UNKNOWN_MEMBER) return `${(message as string) + membersOf(index).join("`, `")}\``;
  if (typeof message === "string") return message;
  const [start, parts, end] = message;
  return kind === INVALID_TYPE
    ? start + parts[TYPES[index] as never] + end + parts[detail]
    : start + parts[detail] + end;
}

function metaOf(index: number, kind: number, text: string, limits: IssueMeta = {}): IssueMeta {
  if (kind === UNKNOWN_MEMBER) return { allowed: membersOf(index) };
  if (kind !== INVALID_TYPE) return limits;
  const [, , , expected, , , actual = "null"] = text.split(/,? /); // such as "must be a number, not a string", or ", not null"
  return { expected, actual } as IssueMeta;
}

/** Returns the names of an object's members. */
function membersOf(index: number): string[] {
  const start = `${POINTERS[index]}/`;
  return POINTERS.filter((pointer) => pointer.startsWith(start))
    .map((pointer) => pointer.slice(start.length))
    .filter((name) => !name.includes("/"));
}

/** Returns the index of the last node within the object or array at `pointer`; 0 if it contains no nodes. */
export const lastIn = (pointer: string) =>
  POINTERS.reduce((last, other, index) => (other.startsWith(`${pointer}/`) ? index : last), 0);

export const wrongNumber = (number: number) =>
  Number.isFinite(number) ? NOT_POSITIVE : NOT_FINITE;

/**
 * Builds an issue.
 * @param about three numbers, one byte each, lowest first: the index of the node, the code, and the detail
 *   that the message names
 * @param number the position of the array item that contains the node, or the number at the end of the
 *   message
 * @param name the name of an unknown member of the node
 */
export function issueOf(about: number, number: number, name?: string): NewIssue {
  const { code, steps, head, tail, text, isOpen, meta } = explained.get(about) ?? explain(about);
  const path: (string | number)[] = steps.slice();
  let pointer = head;
  if (tail !== undefined) {
    path[1] = number; // both arrays are members of the request
    pointer += number + tail;
  }
  if (name !== undefined) {
    path.push(name);
    pointer += `/${/[/~]/.test(name) ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name}`;
  }
  return { path, pointer, code, message: isOpen ? text + number : text, meta };
}

/**
 * Appends an issue with the count of the issues that were left out, unless the caller wants only one issue:
 * then the walk did not count the others.
 */
export function withCount(issues: NewIssue[], count: number): NewIssue[] {
  if (count && issues.length > 1) issues.push({ ...issueOf(MORE_ISSUES << 8, count), count });
  return issues;
}
