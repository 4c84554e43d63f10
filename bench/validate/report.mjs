/** The results of `bench:validate` as Markdown and pictures. */
import { KINDS } from "../data.mjs";
import { figure, median, ratio } from "../numbers.mjs";
import { bars, lines } from "../plot.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const PLACES = { node: "Node", browser: "Chromium" };
const kinds = Object.keys(KINDS);
const label = (kind) => KINDS[kind].label;

/** @param {object[]} runs what `validateRun` gave @param {{bench: string, node: string}} place */
export function validateReport(runs, place) {
  const [first] = runs;
  const names = Object.keys(first.node.values.small);
  const versions = { Node: place.node, Chromium: first.chromium, ...versionsOf(place.bench, ["ajv", "ajv-formats", "zod", "valibot", "typebox", "arktype"]) };
  const markdown = [
    provenance(versions, runs.length),
    ...Object.keys(PLACES).flatMap((where) => timeTables(runs, where, "values", `A JavaScript value in ${PLACES[where]}`)),
    "![Checks per second, each against ours](bench-validate.svg)",
    ...Object.keys(PLACES).flatMap((where) => timeTables(runs, where, "bytes", `JSON bytes in ${PLACES[where]}`)),
    "### What each finds",
    foundTable(first, names),
    "### Bytes and start",
    bytesTable(runs),
    "### How cost grows",
    growthTable(runs),
    "![Time against the number of pledges](bench-growth.svg)",
    "### Limits",
    limitsTable(runs),
  ];
  return { markdown: markdown.join("\n\n"), pictures: { "bench-validate": speedPicture(runs, names), "bench-growth": growthPicture(runs) } };
}

/** One table of ratios, one of raw figures. */
function timeTables(runs, where, what, title) {
  const names = Object.keys(runs[0][where][what].small);
  const rivals = names.filter((name) => name !== OURS);
  const ratios = kinds.map((kind) => [label(kind), figure(1e6 / timeOf(runs, where, what, kind, OURS)), ...rivals.map((name) => times(ratioOf(runs, where, what, kind, name)))]);
  const raw = kinds.map((kind) => [label(kind), ...names.map((name) => spread(runs.map((run) => median(run[where][what][kind][name]))))]);
  return [
    `### ${title}`,
    `How many times as fast as each we are, and our checks per second:`,
    table(["payload", "ours, per second", ...rivals], ratios),
    "Microseconds of one check, and their range over the runs:",
    table(["payload", ...names], raw),
  ];
}

const timeOf = (runs, where, what, kind, name) => median(runs.map((run) => median(run[where][what][kind][name])));
const ratioOf = (runs, where, what, kind, name) => median(runs.map((run) => ratio(run[where][what][kind][name], run[where][what][kind][OURS])));
const times = (value) => `${figure(value)} ×`;

function spread(values) {
  const middle = figure(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
}

function foundTable({ node: { found, judged } }, names) {
  const rows = names.map((name) => [name, found[name].problems.places, ...["minimal", "small", "medium", "large"].map((kind) => found[name][kind].problems), judged[name].lenient, judged[name].strict]);
  const { rows: count } = judged[OURS];
  const heads = ["", "places of the 5 problems", "minimal", "small", "medium", "large", `lets pass (of ${count})`, `refuses (of ${count})`];
  return `${table(heads, rows)}\n\nThe last two columns: of the ${count} values of \`tests/fixtures\`, how many each lets pass against the contract, and how many it refuses against it.`;
}

function bytesTable(runs) {
  const rows = runs[0].bytes.map(({ name, minified, gzip, brotli }) => [name, minified.toLocaleString("en-US"), gzip.toLocaleString("en-US"), brotli.toLocaleString("en-US"), spread(runs.map((run) => median(run.starts[name])))]);
  return table(["", "minified, bytes", "gzip", "brotli", "load and first check in a fresh Node, ms"], rows);
}

const WHO = { ours: OURS, ajv: "ajv 8" };
const WHAT = { valid: "valid", problems: "a problem in each pledge" };

function growthTable(runs) {
  const sizes = [...new Set(runs[0].growth.map(({ size }) => size))];
  const series = Object.keys(WHO).flatMap((who) => Object.keys(WHAT).map((what) => ({ who, what })));
  const cell = ({ who, what }, size) => {
    const found = growthOf(runs, who, what, size);
    return `${figure(found.microseconds / size)} µs, ${figure(found.bytes / 1e6)} MB${who === "ours" ? `, wasm ${figure(found.wasm / 1e6)} MB` : ""}`;
  };
  const rows = sizes.map((size) => [size.toLocaleString("en-US"), ...series.map((one) => cell(one, size))]);
  const heads = ["pledges", ...series.map(({ who, what }) => `${WHO[who]}, ${WHAT[what]}`)];
  return `Time of one pledge, and what the process holds more after one check (a fresh process each):\n\n${table(heads, rows)}`;
}

function growthOf(runs, who, what, size) {
  const found = runs.map((run) => run.growth.find((row) => row.who === who && row.what === what && row.size === size));
  return Object.fromEntries(["microseconds", "bytes", "wasm"].map((name) => [name, median(found.map((row) => row[name]))]));
}

function limitsTable(runs) {
  const rows = Object.keys(runs[0].node.limits).map((name) => [name, ...Object.keys(PLACES).map((where) => spread(runs.map((run) => median(run[where].limits[name]))))]);
  return `Microseconds:\n\n${table(["", ...Object.values(PLACES)], rows)}`;
}

function speedPicture(runs, names) {
  const bar = (kind, name) => {
    const value = 1 / timeOf(runs, "node", "values", kind, name);
    return { name, value, note: name === OURS ? `${figure(value * 1e6)} per second` : times(1 / ratioOf(runs, "node", "values", kind, name)) };
  };
  return bars("Checks per second in Node: longer is better", kinds.map((kind) => ({ label: label(kind), bars: names.map((name) => bar(kind, name)) })));
}

function growthPicture(runs) {
  const sizes = [...new Set(runs[0].growth.map(({ size }) => size))];
  const series = Object.keys(WHO).flatMap((who) => Object.keys(WHAT).map((what) => ({ name: `${WHO[who]}, ${what}`, points: sizes.map((size) => [size, growthOf(runs, who, what, size).microseconds / 1_000]) })));
  return lines("Time of one check", { label: "pledges", logarithmic: true, format: (value) => value.toLocaleString("en-US") }, { label: "ms", logarithmic: true, format: (value) => String(value) }, series);
}
