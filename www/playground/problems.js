/** The issues of a request, each with its place in the text. */
import { validateBytes } from "impact-pledge/validate";
import { findNodeAtLocation, parseTree } from "jsonc-parser";

/** @typedef {{from: number, to: number, pointer: string, code: string, message: string}} Problem */

/**
 * Checks a text by the rules of the service.
 * @param {string} text
 * @returns {Problem[]}
 */
export function problemsOf(text) {
  const issues = validateBytes(new TextEncoder().encode(text));
  if (issues.length === 0) return [];
  const errors = [];
  const root = parseTree(text, errors, { disallowComments: true });
  const [broken] = errors;
  return issues.map(({ path, pointer, code, message }) => {
    const isMalformed = path.length === 0 && broken !== undefined;
    const place = isMalformed
      ? { from: broken.offset, to: broken.offset + broken.length }
      : placeOf(root, path);
    return { ...within(place, text.length), pointer, code, message };
  });
}

/** Returns the place of the value at a path. If the value is missing, that of the object that lacks it. */
function placeOf(root, path) {
  if (!root) return { from: 0, to: 0 };
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node) return rangeOf(node, length === path.length);
  }
  return { from: root.offset, to: root.offset + 1 };
}

/** Returns the range of a value. For an object or an array, that of its name, or its bracket if it has no name. */
function rangeOf(node, isThere) {
  const isSimple = node.children === undefined;
  const name = node.parent?.type === "property" ? node.parent.children?.[0] : undefined;
  const { offset, length } = (isSimple && isThere) || !name ? node : name;
  return { from: offset, to: offset + (isSimple || name ? length : 1) };
}

function within({ from, to }, length) {
  const start = Math.max(0, Math.min(from, length - 1));
  return { from: start, to: Math.min(Math.max(to, start + 1), length) };
}
