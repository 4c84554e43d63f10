/** Converts the answers and errors of operations to results of MCP tools, whose length is limited. */
import { failure, placeInWords } from "./output.mjs";

/** The longest text of a result, in characters. */
export const MOST_TEXT = 20_000;
/** The longest structured content, in characters of its JSON. */
export const MOST_DATA = 60_000;

/** Arguments that make an answer shorter. */
const NARROWING = [
  "limit",
  "month",
  "day",
  "unit",
  "team",
  "mode",
  "key",
  "since",
  "until",
  "before",
];

/**
 * @typedef {{content: {type: "text", text: string}[], structuredContent?: Record<string, unknown>, isError?: boolean}} ToolResult
 * @typedef {{member: string, shown: number, of: number}} Cut a list that was shortened
 */

/**
 * Returns the result of a tool. If an answer is too long, its lists are shortened, and the result says so.
 * @param {import("./kv.mjs").Place} place
 * @param {import("./operations.mjs").Answer} answer
 * @param {import("./mcp-tools.mjs").Offered} offered
 * @returns {ToolResult}
 */
export function resultOf(place, { data, text }, offered) {
  const whole = JSON.parse(data);
  const { value, cuts } = shortened(whole, MOST_DATA);
  const isCut = cuts.length > 0 || text.length > MOST_TEXT;
  const how = isCut ? howToNarrow(offered) : "";
  const next = offered.arguments.some(({ name }) => name === "after") ? whole.next : null;
  const notes = [
    text.length > MOST_TEXT && `[This text was cut after ${MOST_TEXT} characters. ${how}]`,
    ...cuts.map(({ member, shown, of }) => `[\`${member}\` has ${shown} of ${of} items here.]`),
    next && `[There is more: pass \`after\` = ${JSON.stringify(next)}.]`,
  ].filter(Boolean);
  const shown = [placeInWords(place), text.slice(0, MOST_TEXT), notes.join("\n")];
  const cut = isCut ? { cut: { lists: cuts, how } } : {};
  return {
    content: [{ type: "text", text: shown.filter(Boolean).join("\n\n") }],
    structuredContent: { place, ...value, ...cut },
  };
}

/** @param {import("./mcp-tools.mjs").Offered} offered */
function howToNarrow(offered) {
  const names = offered.arguments
    .map(({ name }) => name)
    .filter((name) => NARROWING.includes(name));
  const listed = names.map((name) => `\`${name}\``).join(", ");
  return listed
    ? `To see the rest, call the tool again with a narrower ${listed}.`
    : `The command \`${offered.spec.group} ${offered.spec.name}\` prints all of it.`;
}

/**
 * Returns the result of a call that failed. It names the wrong argument, if one is.
 * @param {any} error
 * @param {import("./kv.mjs").Place} [place]
 * @returns {ToolResult}
 */
export function failedResult(error, place) {
  const { error: said } = failure(error, false);
  const text = said.message.slice(0, MOST_TEXT);
  const about = said.field ? `\n\nArgument: \`${said.field}\`.` : "";
  return {
    isError: true,
    content: [{ type: "text", text: text + about }],
    structuredContent: JSON.parse(JSON.stringify({ place, error: { ...said, message: text } })),
  };
}

/**
 * Shortens the lists of a JSON value, always the longest one first, until its JSON has at most `most` characters.
 * @param {any} whole it is changed
 * @param {number} most
 * @returns {{value: any, cuts: Cut[]}}
 */
export function shortened(whole, most) {
  const lengths = new Map(); // of the lists that were shortened, by their path
  for (let excess = lengthOf(whole) - most; excess > 0; excess = lengthOf(whole) - most) {
    const longest = longestOf(listsOf(whole));
    if (!longest) return { value: {}, cuts: [{ member: "", shown: 0, of: 1 }] };
    if (!lengths.has(longest.path))
      lengths.set(longest.path, { of: longest.list.length, list: longest.list });
    longest.list.length = Math.floor(
      longest.list.length * Math.max(0, 1 - excess / longest.length) * 0.95,
    );
  }
  const cuts = [...lengths].map(([member, { of, list }]) => ({ member, shown: list.length, of }));
  return { value: whole, cuts };
}

/** A list with one item is shortened only if there is no other: the item may have a list of its own. */
function longestOf(lists) {
  const several = lists.filter(({ list }) => list.length > 1);
  const [longest] = (several.length > 0 ? several : lists).toSorted((a, b) => b.length - a.length);
  return longest;
}

const lengthOf = (value) => JSON.stringify(value).length;

/** Returns all lists in a value that have items, each with its path and the length of its JSON. */
function listsOf(value, path = "") {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, member]) =>
    listsOf(member, path ? `${path}.${name}` : name),
  );
  const own = Array.isArray(value) && value.length > 0;
  return own ? [{ path, list: value, length: lengthOf(value) }, ...inner] : inner;
}
