/** The results of `bench:service` as Markdown and pictures. */
import { figure, median, ratio } from "../numbers.mjs";
import { bars, lines } from "../plot.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const MEGABYTE = 1e6;

/** @param {object[]} runs what `contest` gave @param {{bench: string, root: string, wrk: string}} place */
export function serviceReport(runs, place) {
  const [first] = runs;
  const names = Object.keys(first.load);
  const kinds = Object.keys(first.load[OURS]);
  const rivals = names.filter((name) => name !== OURS && first.load[name][kinds.at(-1)].length > 0);
  const versions = { ...versionsOf(place.root, ["workerd", "wrangler"]), ...versionsOf(place.bench, ["hono", "@hono/zod-validator", "zod"]), wrk: place.wrk };
  const markdown = [
    provenance(versions, runs.length),
    "### Requests per second",
    "How many times as many as each we serve:",
    table(["request", "ours, per second", ...rivals], kinds.map((kind) => [kind, figure(middle(runs, OURS, kind, "perSecond")), ...rivals.map((name) => times(ratioOf(runs, kind, "perSecond", OURS, name)))])),
    "Raw figures, and their range over the runs:",
    rawTable(runs, names, kinds, "perSecond"),
    uploadsLine(runs),
    "![Requests per second](bench-service.svg)",
    "### Processor time per request",
    "Microseconds of workerd's own, by the operating system's account, KV's stand-in included; how many times as much each needs as we do:",
    table(["request", "ours, µs", ...rivals], kinds.map((kind) => [kind, figure(middle(runs, OURS, kind, "cpu")), ...rivals.map((name) => times(ratioOf(runs, kind, "cpu", name, OURS)))])),
    rawTable(runs, names, kinds, "cpu"),
    "### Waiting time",
    "Milliseconds at p50 / p99, with the connections that the load uses:",
    table(["request", ...names], kinds.map((kind) => [kind, ...names.map((name) => `${milliseconds(runs, name, kind, "p50")} / ${milliseconds(runs, name, kind, "p99")}`)])),
    "### Start, upload, memory",
    standingTable(runs),
    ...(first.soaks.length > 0 ? memoryPart(runs) : []),
  ];
  const pictures = { "bench-service": speedPicture(runs, names, kinds), ...(first.soaks.length > 0 && { "bench-memory": memoryPicture(runs) }) };
  return { markdown: markdown.join("\n\n"), pictures };
}

/** Whoever cuts a refused upload off is quick, and the client does not learn why. */
function uploadsLine(runs) {
  const sum = (index, what) => runs.reduce((total, run) => total + run.uploads[index][what], 0);
  const each = runs[0].uploads.map(({ name }, index) => `${name} ${sum(index, "answered")} of ${sum(index, "of")}`);
  return `Uploads of 8 MB whose sender got the answer 413 instead of a broken connection: ${each.join(", ")}.`;
}

const ofRun = (run, name, kind, what) => run.load[name][kind].map((slice) => slice[what]).filter((value) => value !== null);
const medians = (runs, name, kind, what) => runs.map((run) => ofRun(run, name, kind, what)).filter((values) => values.length > 0).map(median);
const middle = (runs, name, kind, what) => (medians(runs, name, kind, what).length === 0 ? null : median(medians(runs, name, kind, what)));

function ratioOf(runs, kind, what, above, below) {
  const all = runs.map((run) => [ofRun(run, above, kind, what), ofRun(run, below, kind, what)]).filter(([top, bottom]) => top.length > 0 && bottom.length > 0);
  return all.length === 0 ? null : median(all.map(([top, bottom]) => ratio(top, bottom)));
}

const times = (value) => (value === null ? "–" : `${figure(value)} ×`);

function rawTable(runs, names, kinds, what) {
  const cell = (name, kind) => spread(medians(runs, name, kind, what));
  return table(["request", ...names], kinds.map((kind) => [kind, ...names.map((name) => cell(name, kind))]));
}

function spread(values) {
  if (values.length === 0) return "–";
  if (values.length === 1) return figure(values[0]);
  return `${figure(median(values))} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
}

function milliseconds(runs, name, kind, what) {
  const value = middle(runs, name, kind, what);
  return value === null ? "–" : figure(value / 1_000);
}

function standingTable(runs) {
  const [first] = runs;
  const row = ({ name }, index) => {
    const { raw, gzip, brotli } = first.upload[index];
    const starts = (what) => spread(runs.map((run) => run.starts[index][what].filter((value) => value !== null)).filter((values) => values.length > 0).map(median));
    const memory = runs.map((run) => run.memory.find((found) => found.name === name)?.bytes ?? null).filter((value) => value !== null);
    return [name, starts("answer"), starts("create"), ...[raw, gzip, brotli].map((bytes) => figure(bytes / 1_000)), memory.length > 0 ? spread(memory.map((bytes) => bytes / MEGABYTE)) : "–"];
  };
  return table(["", "process start to first answer, ms", "first create after that, ms", "upload, KB", "gzip", "brotli", "memory after the load, MB"], first.upload.map(row));
}

function speedPicture(runs, names, kinds) {
  const bar = (kind, name) => {
    const value = middle(runs, name, kind, "perSecond");
    return value === null ? null : { name, value, note: figure(value) };
  };
  return bars("Requests per second on workerd: longer is better", kinds.map((kind) => ({ label: kind, bars: names.map((name) => bar(kind, name)).filter(Boolean) })));
}

function memoryPart(runs) {
  return [
    "### Memory under mixed requests",
    "Megabytes at the start / half-way / at the end, in processes of their own, garbage collected before each look: of the whole process, of that what is alive in V8's heap of the Worker with all that hangs on it, in its wasm, and in the KV stand-in beside it:",
    memoryTable(runs),
    "![Memory under mixed requests](bench-memory.svg)",
  ];
}

const PLACES = { "whole process": "resident", "alive in the Worker": "heap", wasm: "wasm", "alive in the KV stand-in": "kv" };

function memoryTable(runs) {
  const row = ({ name }, index) => {
    const all = runs.map(({ soaks }) => soaks[index].samples);
    const requests = median(all.map((samples) => samples.at(-1).requests));
    return [name, figure(requests), ...Object.values(PLACES).map((place) => course(all, place))];
  };
  return table(["", "requests", ...Object.keys(PLACES)], runs[0].soaks.map(row));
}

/** The start, the middle and the end of each run, and of the runs their medians. */
function course(all, place) {
  const stations = [() => 0, (count) => Math.floor((count - 1) / 2), (count) => count - 1];
  const values = stations.map((station) => all.map((samples) => samples[station(samples.length)][place]).filter((bytes) => bytes !== null));
  return values.map((bytes) => (bytes.length > 0 ? figure(median(bytes) / MEGABYTE) : "–")).join(" / ");
}

function memoryPicture([{ soaks }]) {
  const seen = soaks.filter(({ samples }) => samples.every(({ resident }) => resident !== null));
  const line = ({ name, samples }, suffix, of) => ({ name: name + suffix, points: samples.map((sample) => [sample.requests, of(sample) / MEGABYTE]) });
  const ours = soaks.filter(({ name }) => name === OURS).map((soak) => line(soak, ", alive", ({ heap, wasm }) => heap + wasm));
  const series = [...seen.map((soak) => line(soak, "", ({ resident }) => resident)), ...ours];
  return lines("Memory of workerd under mixed requests, garbage collected", { label: "requests", format: (value) => value.toLocaleString("en-US") }, { label: "MB", format: (value) => String(Math.round(value)) }, series);
}
