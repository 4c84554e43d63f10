/** Formats the results of `bench:sizes` as Markdown. */
import { table, versionsOf } from "../report.mjs";

const LIBRARIES = ["stripe", "openai", "zod", "impact-pledge"];

/**
 * Formats a table with a row for each use, and a column for each library. A dash stands for a use that the
 * library does not have.
 * @param {{use: string, name: string, minified: number, brotli: number}[][]} runs the sizes that each run
 *   found; all runs find the same
 * @param {{bench: string}} environment
 */
export function report([sizes], { bench }) {
  const versions = Object.entries(versionsOf(bench, LIBRARIES)).map((each) => each.join(" "));
  const distinct = (what) => [...new Set(sizes.map((size) => size[what]))];
  const names = distinct("name");
  const rows = distinct("use").map((use) => [
    use,
    ...names.map((name) => cell(sizes.find((size) => size.use === use && size.name === name))),
  ]);
  const prose = `Minified bytes after brotli (before it in brackets). Versions: ${versions.join(", ")}.`;
  return `${prose}\n\n${table(["", ...names], rows)}`;
}

/** Formats the Brotli size and the minified size of a bundle, such as `8,890 (21,425)`. */
function cell(size) {
  if (!size) return "–";
  const [brotli, minified] = [size.brotli, size.minified].map((it) => it.toLocaleString("en-US"));
  return `${brotli} (${minified})`;
}
