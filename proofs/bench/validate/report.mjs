/** The results of `bench:validate` as Markdown. */
import { KINDS } from "../data.mjs";
import { figure, median, ratio, spread } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const ENVIRONMENTS = { node: "Node", browser: "Chromium" };
const INPUTS = { values: "a value", bytes: "JSON bytes" };

const TIMES = `Microseconds per check: the median and the range over the runs. \`×\`: that library's time divided by ${OURS}'s for the same input, so ${OURS} is faster where it is above 1.`;

/** @param {object[]} runs what `run` gave @param {{bench: string}} environment */
export function report(runs, { bench }) {
  const versions = {
    Node: process.versions.node,
    Chromium: runs[0].chromium,
    ...versionsOf(bench, ["ajv", "ajv-formats", "zod", "valibot"]),
  };
  return [`${provenance(versions, runs.length)} ${TIMES}`, timeTable(runs), bytesTable(runs)].join(
    "\n\n",
  );
}

/** A row per competitor and input, a column per payload and engine. */
function timeTable(runs) {
  const columns = Object.keys(ENVIRONMENTS).flatMap((where) =>
    Object.keys(KINDS).map((kind) => ({ where, kind })),
  );
  const rows = Object.keys(INPUTS).flatMap((what) =>
    Object.keys(runs[0].node[what].small).map((name) => [
      `${name}, ${INPUTS[what]}`,
      ...columns.map(({ where, kind }) =>
        timeCell(
          runs.map((run) => run[where][what][kind]),
          name,
        ),
      ),
    ]),
  );
  const heads = columns.map(({ where, kind }) => `${ENVIRONMENTS[where]}: ${KINDS[kind].label}`);
  return table(["", ...heads], rows);
}

/** @param {Record<string, number[]>[]} runs microseconds by competitor and round */
function timeCell(runs, name) {
  const times = runs.map((run) => median(run[name]));
  const beside =
    name === OURS
      ? `${figure(1e6 / median(times))} per second`
      : `${figure(median(runs.map((run) => ratio(run[name], run[OURS]))))} ×`;
  return `${spread(times)}, ${beside}`;
}

/** The bytes that a page downloads, how soon it can check, and how far each follows the contract. */
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
