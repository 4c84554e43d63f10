/** The results of `bench:service` as Markdown. */
import { figure, median, ratio } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";
const MEGABYTE = 1e6;

const LOAD = `Each cell: requests per second; microseconds of processor time of \`workerd\` per request, the KV stand-in's included; milliseconds of waiting at p50 / p99. Figures are medians, with the range over the runs. \`×\`: how many times as many requests ${OURS} serves, and how many times as much processor time the other needs.`;
const STANDING =
  "Milliseconds of start, kilobytes of upload, megabytes of memory. Mixed requests run in processes of their own, with garbage collected before each reading (start / half-way / end).";

/** @param {object[]} runs what `contest` gave @param {{bench: string, root: string, wrk: string}} environment */
export function serviceReport(runs, environment) {
  const [first] = runs;
  const names = Object.keys(first.load);
  const kinds = Object.keys(first.load[OURS]);
  const rivals = names.filter(
    (name) => name !== OURS && first.load[name][kinds.at(-1) ?? ""].length > 0,
  );
  const versions = {
    ...versionsOf(environment.root, ["workerd", "wrangler"]),
    ...versionsOf(environment.bench, ["hono", "@hono/zod-validator", "zod"]),
    wrk: environment.wrk,
  };
  return [
    `${provenance(versions, runs.length)} ${LOAD}`,
    loadTable(runs, { names, kinds, rivals }),
    `${uploadsLine(runs)} ${STANDING}`,
    standingTable(runs),
  ].join("\n\n");
}

/**
 * A service that closes the connection of a refused upload is fast, but the client never reads the
 * reason.
 */
function uploadsLine(runs) {
  const sum = (index, what) => runs.reduce((total, run) => total + run.uploads[index][what], 0);
  const each = runs[0].uploads.map(
    ({ name }, index) => `${name} ${sum(index, "answered")} of ${sum(index, "of")}`,
  );
  return `Uploads of 8 MB whose sender received the 413 instead of a closed connection: ${each.join(", ")}.`;
}

const ofRun = (run, name, kind, what) =>
  run.load[name][kind].map((slice) => slice[what]).filter((value) => value !== null);
const medians = (runs, name, kind, what) =>
  runs
    .map((run) => ofRun(run, name, kind, what))
    .filter((values) => values.length > 0)
    .map(median);
const middle = (runs, name, kind, what) =>
  medians(runs, name, kind, what).length === 0 ? null : median(medians(runs, name, kind, what));

function ratioOf(runs, kind, what, above, below) {
  const all = runs
    .map((run) => [ofRun(run, above, kind, what), ofRun(run, below, kind, what)])
    .filter(([top, bottom]) => top.length > 0 && bottom.length > 0);
  return all.length === 0 ? null : median(all.map(([top, bottom]) => ratio(top, bottom)));
}

const times = (value) => (value === null ? "–" : `${figure(value)} ×`);

function loadTable(runs, { names, kinds, rivals }) {
  return table(
    ["request", ...names],
    kinds.map((kind) => [
      kind,
      ...names.map((name) => loadCell(runs, name, kind, rivals.includes(name))),
    ]),
  );
}

function loadCell(runs, name, kind, compared) {
  if (medians(runs, name, kind, "perSecond").length === 0) return "–";
  const beside = (what, above, below) =>
    compared ? `, ${times(ratioOf(runs, kind, what, above, below))}` : "";
  const speed = `${spread(medians(runs, name, kind, "perSecond"), "/s")}${beside("perSecond", OURS, name)}`;
  const cpu = `${spread(medians(runs, name, kind, "cpu"), " µs")}${beside("cpu", name, OURS)}`;
  return [
    speed,
    cpu,
    `${milliseconds(runs, name, kind, "p50")} / ${milliseconds(runs, name, kind, "p99")} ms`,
  ].join("<br>");
}

function spread(values, unit = "") {
  if (values.length === 0) return "–";
  const middle = `${figure(median(values))}${unit}`;
  return values.length === 1
    ? middle
    : `${middle} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
}

function milliseconds(runs, name, kind, what) {
  const value = middle(runs, name, kind, what);
  return value === null ? "–" : figure(value / 1_000);
}

function standingTable(runs) {
  const [first] = runs;
  const soaked = first.soaks.length > 0;
  const row = ({ name, raw, gzip, brotli }, index) => {
    const starts = (what) =>
      spread(
        runs
          .map((run) => run.starts[index][what].filter((value) => value !== null))
          .filter((values) => values.length > 0)
          .map(median),
      );
    const memory = runs
      .map((run) => run.memory.find((found) => found.name === name)?.bytes ?? null)
      .filter((value) => value !== null);
    const upload = [raw, gzip, brotli].map((bytes) => figure(bytes / 1_000)).join(" / ");
    return [
      name,
      starts("answer"),
      starts("create"),
      upload,
      spread(memory.map((bytes) => bytes / MEGABYTE)),
      ...(soaked ? soakCells(runs, name) : []),
    ];
  };
  const heads = [
    "",
    "process start to first answer",
    "first create after that",
    "upload: raw / gzip / brotli",
    "memory after the load above",
  ];
  return table(
    [...heads, ...(soaked ? ["mixed requests", ...Object.keys(MEMORY)] : [])],
    first.upload.map(row),
  );
}

const MEMORY = {
  "whole process": "resident",
  "V8 heap of the Worker": "heap",
  wasm: "wasm",
  "V8 heap of the KV stand-in": "kv",
};

function soakCells(runs, name) {
  const all = runs
    .map(({ soaks }) => soaks.find((soak) => soak.name === name)?.samples)
    .filter(Boolean);
  if (all.length === 0) return Array(1 + Object.keys(MEMORY).length).fill("–");
  return [
    figure(median(all.map((samples) => samples.at(-1).requests))),
    ...Object.values(MEMORY).map((part) => course(all, part)),
  ];
}

/** The start, the middle and the end of each run, and of the runs their medians. */
function course(all, part) {
  const stations = [() => 0, (count) => Math.floor((count - 1) / 2), (count) => count - 1];
  const values = stations.map((station) =>
    all.map((samples) => samples[station(samples.length)][part]).filter((bytes) => bytes !== null),
  );
  return values
    .map((bytes) => (bytes.length > 0 ? figure(median(bytes) / MEGABYTE) : "–"))
    .join(" / ");
}
