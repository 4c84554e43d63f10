/** Formats the results of `bench:validate` as Markdown. */
import { KINDS } from "../data.mjs";
import { figure, median, ratio, spread } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const ENVIRONMENTS = ["node", "browser"];
const INPUTS = { values: "A value", bytes: "JSON bytes (others parse first)" };

const LIBRARIES = [
  "ajv",
  "ajv-formats",
  "typia",
  "typebox",
  "@sinclair/typebox",
  "sury",
  "arktype",
  "zod",
  "valibot",
];

const TIMES =
  "Each cell has a figure for Node, then one for Chromium. Times are microseconds per check, with the range over the runs: in Node, processor time; in Chromium, elapsed time, which other programs on the machine lengthen. `×` is the other library's time divided by ours: above 1, ours is faster. `…/js` is `impact-pledge/validate/js`, the same rules without WebAssembly. All check the formats. Sury reports only the first problem, the others report all.";

/** Formats the results of all runs. @param {object[]} runs what `run` gave @param {{bench: string}} environment */
export function report(runs, { bench }) {
  const versions = {
    Node: process.versions.node,
    Chromium: runs[0].chromium,
    ...versionsOf(bench, LIBRARIES),
  };
  const tables = Object.keys(INPUTS).map((what) => timeTable(runs, what));
  return [`${provenance(versions, runs.length)} ${TIMES}`, ...tables, bytesTable(runs)].join(
    "\n\n",
  );
}

/** Formats a table of times, with a row for each payload and a column for each competitor. */
function timeTable(runs, what) {
  const names = Object.keys(runs[0].node[what].small);
  const rows = Object.keys(runs[0].node[what]).map((kind) => [
    KINDS[kind].label,
    ...names.map((name) =>
      ENVIRONMENTS.map((where) =>
        timeCell(
          runs.map((run) => run[where][what][kind]),
          name,
        ),
      ).join(", "),
    ),
  ]);
  return table([INPUTS[what], ...names.map(headOf)], rows);
}

/** Returns a column's heading, such as `impact-pledge, µs`, `…/js` or `ajv 8`. */
const headOf = (name) => (name === OURS ? `${name}, µs` : name.replace(`${OURS}, `, ""));

/**
 * Formats the times of one competitor.
 * @param {Record<string, number[]>[]} runs microseconds by competitor and round
 */
function timeCell(runs, name) {
  if (name === OURS) return spread(runs.map((run) => median(run[name])));
  return `${figure(median(runs.map((run) => ratio(run[name], run[OURS]))))} ×`;
}

/**
 * Formats a table with a row for each library: the bytes that a page downloads, the time to the first check,
 * and how far the library follows the contract.
 */
function bytesTable(runs) {
  const [{ bytes, node }] = runs;
  const { conformity } = node;
  const heads = [
    "",
    "minified, bytes",
    "gzip",
    "brotli",
    "load and first check in a fresh Node, ms of processor time",
    `wrongly accepted of the ${conformity[OURS].rows} values in \`tests/fixtures\``,
    "wrongly refused",
  ];
  const rows = bytes.map(({ name, minified, gzip, brotli }) => [
    name,
    ...[minified, gzip, brotli].map((size) => size.toLocaleString("en-US")),
    spread(runs.map((run) => median(run.starts[name]))),
    conformity[name]?.lenient ?? "–",
    conformity[name]?.strict ?? "–",
  ]);
  return table(heads, rows);
}
