/** What to use instead of a name that is not known. */

/** Longer names resemble none. */
const MAX_NAME = 40;

/** @param {string} name @param {string[]} names @param {string} [what] they are names of */
export function suggest(name, names, what = "options") {
  const nearest = names
    .map((other) => ({
      other,
      edits: edits(name.slice(0, MAX_NAME).toLowerCase(), other.toLowerCase()),
    }))
    .sort((a, b) => a.edits - b.edits)[0];
  return nearest.edits <= nearest.other.length / 2
    ? `did you mean \`${nearest.other}\`?`
    : `the ${what} are ${list(names)}`;
}

/** How many characters have to be added, taken away or changed to make one text of another (Levenshtein's distance). */
function edits(from, to) {
  let row = [...to].map((_, index) => index + 1);
  row.unshift(0);
  for (const [line, char] of [...from].entries()) {
    row = row.reduce(
      (next, above, column) => [
        ...next,
        column === 0
          ? line + 1
          : Math.min(
              above + 1,
              next[column - 1] + 1,
              row[column - 1] + (char === to[column - 1] ? 0 : 1),
            ),
      ],
      [],
    );
  }
  return row.at(-1);
}

export const list = (names) => names.map((name) => `\`${name}\``).join(", ");
