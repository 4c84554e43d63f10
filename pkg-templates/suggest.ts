/* Suggests a known name for an unknown one. */

/** How many characters of a name are compared, at most. */
const MAX_NAME = 40;

/**
 * Returns advice about an unknown name, for the end of an error message. It names the most similar valid
 * name; if none is similar, it lists all valid names.
 * @param what the plural noun for the names
 */
export function suggest(name: string, names: readonly string[], what = "options"): string {
  const nearest = names
    .map((other) => ({
      other,
      edits: edits(name.slice(0, MAX_NAME).toLowerCase(), other.toLowerCase()),
    }))
    .sort((a, b) => a.edits - b.edits)[0]!;
  return nearest.edits <= nearest.other.length / 2
    ? `did you mean \`${nearest.other}\`?`
    : `the ${what} are ${list(names)}`;
}

/** Returns the Levenshtein distance of two texts. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const char of from) {
    const next = [row[0]! + 1];
    for (let i = 1; i < row.length; i += 1) {
      const change = char === to[i - 1] ? 0 : 1;
      next.push(Math.min(row[i]! + 1, next[i - 1]! + 1, row[i - 1]! + change));
    }
    row = next;
  }
  return row.at(-1)!;
}

export const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
