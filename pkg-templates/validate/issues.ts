/* Problems as numbers become issues for people. */
import { KINDS } from "#kinds";
import {
  INVALID_TYPE,
  MORE_ISSUES,
  NOT_FINITE,
  NOT_POSITIVE,
  PLACES,
  TYPES,
  UNKNOWN_MEMBER,
} from "../generated/tables.ts";
import type { IssueMeta, Kind, NewIssue } from "./types.ts";

/** What the numbers of a problem mean, by those numbers. */
const explained = new Map<number, Explanation>();

interface Explanation {
  readonly code: Kind[0];
  readonly steps: readonly string[];
  /** The pointer: before the index of an item and behind it, or all of it. */
  readonly head: string;
  readonly tail: string | undefined;
  readonly text: string;
  /** Whether a number follows the text. */
  readonly isOpen: boolean;
  readonly meta: IssueMeta;
}

function explain(about: number): Explanation {
  const rank = about & 255,
    kind = (about >> 8) & 255,
    detail = about >> 16,
    place = PLACES[rank]!;
  const [head, tail] = place.split("*") as [string, string?],
    [code, message, limits] = KINDS[kind]!;
  const text = textOf(rank, kind, detail, message),
    meta = Object.freeze(metaOf(rank, kind, text, limits));
  const explanation = {
    code,
    steps: place.split("/").slice(1),
    head,
    tail,
    text,
    isOpen: text.endsWith(" "),
    meta,
  };
  explained.set(about, explanation);
  return explanation;
}

function textOf(rank: number, kind: number, detail: number, message: Kind[1]): string {
  if (kind === UNKNOWN_MEMBER) return `${(message as string) + membersOf(rank).join("`, `")}\``;
  if (typeof message === "string") return message;
  const [start, parts, end] = message;
  return kind === INVALID_TYPE
    ? start + parts[TYPES[rank] as never] + end + parts[detail]
    : start + parts[detail] + end;
}

function metaOf(rank: number, kind: number, text: string, limits: IssueMeta = {}): IssueMeta {
  if (kind === UNKNOWN_MEMBER) return { allowed: membersOf(rank) };
  if (kind !== INVALID_TYPE) return limits;
  const [, , , expected, , , actual = "null"] = text.split(/,? /); // such as "must be a number, not a string", or ", not null"
  return { expected, actual } as IssueMeta;
}

/** The names of an object's members. */
function membersOf(rank: number): string[] {
  const start = `${PLACES[rank]}/`;
  return PLACES.filter((place) => place.startsWith(start))
    .map((place) => place.slice(start.length))
    .filter((name) => !name.includes("/"));
}

/** The last rank of what lies in an object or an array; 0 where nothing does. */
export const lastIn = (pointer: string) =>
  PLACES.reduce((last, place, rank) => (place.startsWith(`${pointer}/`) ? rank : last), 0);

export const wrongNumber = (number: number) =>
  Number.isFinite(number) ? NOT_POSITIVE : NOT_FINITE;

/**
 * @param about a problem's rank and code, and what else its text is about
 * @param number the item that it lies in, or the number that its text ends with
 * @param name an unknown member's, below the object that the numbers are about
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
    pointer += `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return { path, pointer, code, message: isOpen ? text + number : text, meta };
}

/** The first issues, and behind them one that counts the others. */
export function withCount(issues: NewIssue[], count: number): NewIssue[] {
  if (count > 0) issues.push({ ...issueOf(MORE_ISSUES << 8, count), count });
  return issues;
}
