/** What the JSON Schema of a request says at a place of its JSON: the editor's completions. */
import { findNodeAtLocation, getLocation, parseTree } from "jsonc-parser";

/** @typedef {{type?: string, description?: string, enum?: string[], required?: string[], properties?: Record<string, Schema>, items?: Schema}} Schema */
/** @typedef {{label: string, detail: string, info?: string, text: string, cursor: number, isRequired?: boolean}} Completion */

/** The text that a new value begins with, and how many characters before its end the cursor is. */
const EMPTY = { string: ['""', 1], object: ["{}", 1], array: ["[]", 1], number: ["1", 0] };

/**
 * Returns what can be written at a place of the text: its beginning and its completions. Returns null if the schema says
 * nothing.
 * @param {Schema} schema
 * @param {string} text
 * @param {number} position
 * @returns {{from: number, to: number, completions: Completion[]} | null}
 */
export function completionsAt(schema, text, position) {
  const { path, isAtPropertyKey, previousNode } = getLocation(text, position);
  const isInside = previousNode !== undefined && isWithin(previousNode, position);
  const word = text.slice(0, position).match(/\w*$/)?.[0] ?? "";
  const range = isInside
    ? { from: previousNode.offset, to: previousNode.offset + previousNode.length }
    : { from: position - word.length, to: position };
  if (isAtPropertyKey) {
    const parent = path.slice(0, -1);
    const completions = membersOf(schemaAt(schema, parent), present(text, parent, position));
    return { ...range, completions: completions.map((one) => fitted(one, text.slice(range.to))) };
  }
  const completions = (schemaAt(schema, path)?.enum ?? []).map((value) => ({
    label: value,
    detail: "",
    text: JSON.stringify(value),
    cursor: 0,
  }));
  return completions.length > 0 ? { ...range, completions } : null;
}

const isWithin = ({ offset, length, type }, position) =>
  ["property", "string"].includes(type) && position > offset && position <= offset + length;

/** Returns the schema of the value at a path; undefined if the schema has none. @returns {Schema | undefined} */
function schemaAt(schema, path) {
  return path.reduce(
    (inner, key) => (typeof key === "number" ? inner?.items : own(inner?.properties, key)),
    schema,
  );
}

const own = (members, key) => (members && Object.hasOwn(members, key) ? members[key] : undefined);

/** Returns the names of the members that the object at a path has, except the one at the position. */
function present(text, path, position) {
  const root = parseTree(text);
  const object = root && findNodeAtLocation(root, path);
  return (object?.children ?? [])
    .map((property) => property.children?.[0])
    .filter((name) => name && !(position > name.offset && position <= name.offset + name.length))
    .map((name) => name?.value);
}

/** @param {Schema | undefined} schema @param {string[]} names @returns {Completion[]} */
function membersOf(schema, names) {
  const members = Object.entries(schema?.properties ?? {});
  return members
    .filter(([name]) => !names.includes(name))
    .map(([name, { type = "string", description: info, enum: choices }]) => {
      const [value, cursor] = EMPTY[choices ? "string" : type] ?? EMPTY.string;
      const isRequired = schema?.required?.includes(name) ?? false;
      const detail = isRequired ? `${type}, required` : type;
      const text = `${JSON.stringify(name)}: ${value}`;
      return { label: name, detail, info, text, cursor, isRequired };
    });
}

/** Fits a completion to the text after it: only the name before a colon, and a comma before another member. */
function fitted(completion, after) {
  if (/^\s*:/.test(after))
    return { ...completion, text: JSON.stringify(completion.label), cursor: 0 };
  if (!/^\s*"/.test(after)) return completion;
  return { ...completion, text: `${completion.text},`, cursor: completion.cursor + 1 };
}
