/* Finds the line and column of issues in a JSON text. */
import type { Issue } from "impact-pledge/validate";
import { visit } from "jsonc-parser";

/** A position in a text: its line and its column, both counted from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Positions in a text, by path. Each key is a path as JSON, such as `["pledges",0]`. */
type Places = Map<string, Place[]>;

export type PlacedIssue = Issue & Partial<Place>;

/**
 * The validator's maximum depth of nesting. If a value is nested deeper, the validator reports no further
 * issues after it.
 */
const MOST_LEVELS = 64;
const ENOUGH = new Error("the validator reports no issues after this position");

/**
 * Adds `line` and `column` to each issue that has a position in the file. Both count from 1. Columns are
 * UTF-16 code units, as in editors. For a missing member, the position is that of its object. For an unknown
 * or duplicate member, it is that of the member's name.
 */
export function withPlaces(issues: readonly Issue[], bytes: Uint8Array): PlacedIssue[] {
  const wanted = new Set(issues.flatMap(({ path }) => [keyOf(path), keyOf(path.slice(0, -1))]));
  const { names, values } = placesIn(decoded(bytes), wanted);
  const seen = new Map<string, number>();
  return issues.map((issue) => ({ ...issue, ...placeOf(issue) }));

  function placeOf({ path, code, message }: Issue): Partial<Place> | undefined {
    const key = keyOf(path),
      [value] = values.get(key) ?? [];
    if (code === "more_issues") return {};
    if (code === "malformed_json")
      return placeAt(bytes.subarray(0, Number(message.match(/ byte (\d+)$/)?.[1] ?? 0)));
    if (code === "required") return values.get(keyOf(path.slice(0, -1)))?.[0];
    if (code !== "unknown_member" && code !== "duplicate_member") return value;
    const count = (seen.get(key) ?? (code === "unknown_member" ? 0 : 1)) + 1; // a duplicate is the second or a later member of its name
    seen.set(key, count);
    return names.get(key)?.[count - 1];
  }
}

const keyOf = (path: Issue["path"]) => JSON.stringify(path);
const decoded = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Returns the position after the last of these bytes. */
function placeAt(bytes: Uint8Array): Place {
  const lines = decoded(bytes).split(/\r\n|[\r\n]/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/**
 * Finds the wanted paths in a text. Returns two lists, each in the order of the text: the positions of members'
 * names, and the positions of values.
 */
function placesIn(text: string, wanted: ReadonlySet<string>): { names: Places; values: Places } {
  const names: Places = new Map(),
    values: Places = new Map();
  const add = (places: Places, path: Issue["path"], line: number, column: number) => {
    const key = keyOf(path);
    if (!wanted.has(key)) return;
    if (!places.has(key)) places.set(key, []);
    places.get(key)!.push({ line: line + 1, column: column + 1 });
  };
  const begin = (
    _offset: number,
    _length: number,
    line: number,
    column: number,
    path: () => Issue["path"],
  ) => {
    if (path().length > MOST_LEVELS) throw ENOUGH;
    add(values, path(), line, column);
  };
  try {
    visit(text, {
      onObjectBegin: begin,
      onArrayBegin: begin,
      onObjectProperty: (name, _offset, _length, line, column, path) =>
        add(names, [...path(), name], line, column),
      onLiteralValue: (_value, _offset, _length, line, column, path) =>
        add(values, path(), line, column),
    });
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  return { names, values };
}
