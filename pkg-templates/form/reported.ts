/* Reads issues from a server. They may be any value, so reading is bounded and never throws. */
import type { ReportedIssue } from "./types.ts";

const MOST = 1_000; // issues, and characters of each text
const MOST_STEPS = 9;
const CODE = /^(required|[a-z]+(_[a-z]+)+)$/; // excludes members of Object.prototype

/** Returns the `issues` of a response or an error; undefined if there are none. */
export function issuesOf(value: unknown): unknown[] | undefined {
  return tryOrUndefined(() =>
    Array.isArray((value as Answer).issues) && (value as Answer).issues.length > 0
      ? (value as Answer).issues
      : undefined,
  );
}

/** An issue that a server reported, as `readIssues` returns it. */
export interface ServerIssue {
  readonly path: readonly string[];
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly meta: unknown;
}

interface Answer {
  readonly issues: unknown[];
}

/** Reads the first {@link MOST} issues, except those without a message. */
export function readIssues(issues: unknown): ServerIssue[] {
  const length = tryOrUndefined(() => Math.min((issues as unknown[]).length, MOST)) || 0;
  return Array.from({ length }, (_, index) =>
    tryOrUndefined(() => readIssue((issues as ReportedIssue[])[index]!)),
  ).filter(Boolean) as ServerIssue[];
}

function readIssue({
  path,
  pointer,
  code,
  message,
  meta,
}: ReportedIssue & { readonly meta?: unknown }): ServerIssue | undefined {
  if (typeof message !== "string" || !message.trim()) return undefined;
  const steps = Array.isArray(path)
    ? path.slice(0, MOST_STEPS).map(stepOf)
    : String(pointer ?? "")
        .slice(0, MOST)
        .split("/", MOST_STEPS)
        .slice(1);
  return {
    path: steps,
    pointer: ["", ...steps].join("/"),
    code: CODE.test(code!) ? code! : "",
    meta,
    message: message.slice(0, MOST),
  };
}

/** Reads a step of a path. Standard Schema also allows an object with a `key`. */
const stepOf = (step: unknown) =>
  String((step as { key?: unknown } | null)?.key ?? step).slice(0, MOST);

export function tryOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
