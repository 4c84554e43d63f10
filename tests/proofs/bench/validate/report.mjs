/** Formats the results of `bench:validate` as Markdown. */
import { KINDS } from "../data.mjs";
import { figure, median, ratio, spread } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const ENVIRONMENTS = { node: "Node", browser: "Chromium" };
const INPUTS = { values: "A value", bytes: "JSON bytes (others parse first)" };

const TIMES =
  "Times are microseconds per check, with the range over the runs. `×` is the other library's time divided by ours: above 1, ours is faster. `…/js` is `impact-pledge/validate/js`, the same rules without WebAssembly.";

/** Formats the results of all runs. @param {object[]} runs what `run` gave @param {{bench: string}} environment */
export function report(runs, { bench }) {
  const versions = {
    Node: process.versions.node,
    Chromium: runs[0].chromium,
    ...versionsOf(bench, ["ajv", "ajv-formats", "zod", "valibot"]),
  };
  const tables = Object.keys(INPUTS).map((what) => timeTable(runs, what));
  return [`${provenance(versions, runs.length)} ${TIMES}`, ...tables, bytesTable(runs)].join(
    "\n\n",
  );
}

/**
 * Formats a table of times, with a row for each payload. Each competitor has a column for each JavaScript
 * engine.
 */
function timeTable(runs, what) {
  const names = Object.keys(runs[0].node[what].small);
  const columns = Object.keys(ENVIRONMENTS).flatMap((where) =>
    names.map((name) => ({ where, name })),
  );
  const rows = Object.entries(KINDS).map(([kind, { label }]) => [
    label,
    ...columns.map(({ where, name }) =>
      timeCell(
        runs.map((run) => run[where][what][kind]),
        name,
      ),
    ),
  ]);
  return table([INPUTS[what], ...columns.map(headOf)], rows);
}

/** Returns a column's heading, such as `Node: impact-pledge, µs`, `Node: …/js` or `Node: ajv 8`. */
function headOf({ where, name }) {
  const unit = name === OURS ? ", µs" : "";
  return `${ENVIRONMENTS[where]}: ${name.replace(`${OURS}, `, "")}${unit}`;
}

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
    "load and first check in a fresh Node, ms",
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
