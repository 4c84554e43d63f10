/** The results of `bench:validate` as Markdown. */
import { KINDS } from "../data.mjs";
import { figure, median, ratio } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const ENVIRONMENTS = { node: "Node", browser: "Chromium" };
const INPUTS = { values: "a value", bytes: "JSON bytes" };
const kinds = Object.keys(KINDS);
const label = (kind) => KINDS[kind].label;

const TIMES = `Microseconds per check: the median and the range over the runs. \`×\`: that library's time divided by ${OURS}'s for the same input, so ${OURS} is faster where it is above 1.`;

/** @param {object[]} runs what `validateRun` gave @param {{bench: string, node: string}} environment */
export function validateReport(runs, environment) {
  const [first] = runs;
  const names = Object.keys(first.node.values.small);
  const versions = {
    Node: environment.node,
    Chromium: first.chromium,
    ...versionsOf(environment.bench, [
      "ajv",
      "ajv-formats",
      "zod",
      "valibot",
      "typebox",
      "arktype",
    ]),
  };
  return [
    `${provenance(versions, runs.length)} ${TIMES}`,
    timeTable(runs),
    bytesTable(runs, names),
    growthTable(runs),
    limitsLine(runs),
  ].join("\n\n");
}

/** A row per competitor and input, a column per payload and engine. */
function timeTable(runs) {
  const columns = Object.keys(ENVIRONMENTS).flatMap((where) =>
    kinds.map((kind) => ({ where, kind })),
  );
  const rows = Object.keys(INPUTS).flatMap((what) =>
    Object.keys(runs[0].node[what].small).map((name) => ({ what, name })),
  );
  const cells = ({ what, name }) =>
    columns.map(({ where, kind }) => timeCell(runs, where, what, kind, name));
  return table(
    ["", ...columns.map(({ where, kind }) => `${ENVIRONMENTS[where]}: ${label(kind)}`)],
    rows.map((row) => [`${row.name}, ${INPUTS[row.what]}`, ...cells(row)]),
  );
}

function timeCell(runs, where, what, kind, name) {
  const beside =
    name === OURS
      ? `${figure(1e6 / timeOf(runs, where, what, kind, OURS))} per second`
      : times(ratioOf(runs, where, what, kind, name));
  return `${spread(runs.map((run) => median(run[where][what][kind][name])))}, ${beside}`;
}

const timeOf = (runs, where, what, kind, name) =>
  median(runs.map((run) => median(run[where][what][kind][name])));
const ratioOf = (runs, where, what, kind, name) =>
  median(runs.map((run) => ratio(run[where][what][kind][name], run[where][what][kind][OURS])));
const times = (value) => `${figure(value)} ×`;

function spread(values) {
  const middle = figure(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
}

/**
 * The bytes that a page downloads, how soon it can check, and how many problems each library finds.
 */
function bytesTable(runs, names) {
  const [
    {
      bytes,
      node: { conformity },
    },
  ] = runs;
  const { rows: count } = conformity[OURS];
  const heads = [
    "",
    "minified, bytes",
    "gzip",
    "brotli",
    "load and first check in a fresh Node, ms",
    "places reported of the 5 problems",
    "problems reported in the valid minimal / small / medium / large",
    `wrongly accepted of the ${count} values in \`tests/fixtures\``,
    "wrongly refused",
  ];
  const sizes = (row) =>
    [row.minified, row.gzip, row.brotli].map((size) => size.toLocaleString("en-US"));
  const start = (name) => spread(runs.map((run) => median(run.starts[name])));
  return table(
    heads,
    bytes.map((row) => [
      row.name,
      ...sizes(row),
      start(row.name),
      ...(names.includes(row.name) ? foundCells(runs[0], row.name) : Array(4).fill("–")),
    ]),
  );
}

function foundCells({ node: { found, conformity } }, name) {
  const problems = ["minimal", "small", "medium", "large"].map(
    (kind) => found[name][kind].problems,
  );
  return [
    found[name].problems.places,
    problems.join(" / "),
    conformity[name].lenient,
    conformity[name].strict,
  ];
}

const WHO = { ours: OURS, ajv: "ajv 8" };
const WHAT = { valid: "valid", problems: "a problem in each pledge" };

function growthTable(runs) {
  const sizes = [...new Set(runs[0].growth.map(({ size }) => size))];
  const series = Object.keys(WHO).flatMap((who) =>
    Object.keys(WHAT).map((what) => ({ who, what })),
  );
  const cell = ({ who, what }, size) => {
    const found = growthOf(runs, who, what, size);
    return `${figure(found.microseconds / size)} µs, ${figure(found.bytes / 1e6)} MB${who === "ours" ? `, wasm ${figure(found.wasm / 1e6)} MB` : ""}`;
  };
  const heads = [
    "time per pledge, growth of the process after one check",
    ...sizes.map((size) => `${size.toLocaleString("en-US")} ${size === 1 ? "pledge" : "pledges"}`),
  ];
  return table(
    heads,
    series.map((one) => [
      `${WHO[one.who]}, ${WHAT[one.what]}`,
      ...sizes.map((size) => cell(one, size)),
    ]),
  );
}

function growthOf(runs, who, what, size) {
  const found = runs.map((run) =>
    run.growth.find((row) => row.who === who && row.what === what && row.size === size),
  );
  return Object.fromEntries(
    ["microseconds", "bytes", "wasm"].map((name) => [name, median(found.map((row) => row[name]))]),
  );
}

function limitsLine(runs) {
  const taken = (name) =>
    Object.keys(ENVIRONMENTS).map(
      (where) =>
        `${spread(runs.map((run) => median(run[where].limits[name])))} in ${ENVIRONMENTS[where]}`,
    );
  return `Microseconds of what a check is made of: ${Object.keys(runs[0].node.limits)
    .map((name) => `${name} ${taken(name).join(", ")}`)
    .join("; ")}.`;
}
