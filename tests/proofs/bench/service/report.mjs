/** Formats the results of `bench:service` as Markdown. */
import { ask } from "../../../../scripts/lib/run.mjs";
import { compared, figure, median, noise, spread } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const HEAVIEST = "POST of 100";

/** @param {import("./run.mjs").Result[]} runs @param {{bench: string, root: string}} environment */
export function report(runs, { bench, root }) {
  const versions = {
    ...versionsOf(root, ["workerd", "wrangler"]),
    ...versionsOf(bench, ["hono", "zod"]),
    wrk: wrkVersion(),
  };
  const processes = runs[0].load.ours[runs[0].kinds[0]].length;
  return [
    `${provenance(versions, runs.length)} Figures are microseconds of processor time of \`workerd\` per request, with KV in memory: the median of ${processes * runs.length} fresh processes, for ours of twice as many. \`×\` is the other Worker's time divided by ours; \`level\` means within the noise, the difference between processes of one build. A \`limit\` Worker does only part of the work.`,
    loadTable(runs),
    startTable(runs),
  ].join("\n\n");
}

/** Returns wrk's version. Reads it from `wrk debian/4.1.0-3+b2 [epoll] …`, which wrk prints as an error. */
function wrkVersion() {
  const text = ask("sh", ["-c", "wrk --version 2>&1; true"]) ?? "";
  return text.match(/(\d+\.\d+\.\d+)/)?.[1] ?? "of unknown version";
}

function loadTable(runs) {
  const limits = ["limit: one safe KV call", "limit: one KV call", "limit: no work"];
  const heads = ["request", "ours", "noise", "tuned Hono", ...limits];
  const rows = runs[0].kinds.map((kind) => {
    const figures = (key, what = "cpu") =>
      runs
        .flatMap(({ load }) => load[key][kind])
        .map((slice) => slice[what])
        .filter((value) => value !== null); // processor time is known only on Linux
    const ours = [...figures("ours"), ...figures("twin")];
    const limit = ours.length > 0 ? noise(figures("ours"), figures("twin")) : 1;
    const cell = (key) => {
      const theirs = figures(key);
      return theirs.length === 0
        ? "–"
        : `${figure(median(theirs))}, ${compared(theirs, ours, limit)}`;
    };
    const perSecond = ["ours", "hono"].map((key) => figure(median(figures(key, "perSecond"))));
    return [
      kind,
      ours.length > 0 ? figure(median(ours)) : "–",
      `± ${Math.ceil((limit - 1) * 100)} %`,
      ...["hono", "safe", "kv", "empty"].map(cell),
      perSecond.join(" / "),
    ];
  });
  return table([...heads, "requests/s: ours / Hono"], rows);
}

const STARTED = {
  answer: "process start to first answer, ms",
  create: "a create as the first request, ms",
};

/**
 * Returns a table about the start of the Workers, with a row for each figure. Workers that write no record
 * have an empty cell.
 */
function startTable(runs) {
  const started = (key, what) =>
    spread(runs.flatMap(({ starts }) => starts[key].map((start) => start[what])));
  const columns = ["ours", "eager", "hono", "kv", "empty"];
  const rows = Object.entries(STARTED).map(([what, name]) => [
    name,
    ...columns.map((key) => started(key, what)),
  ]);
  const upload = (key) => figure(runs[0].upload[key].brotli / 1_000);
  const memory = (key) =>
    spread(
      runs
        .flatMap(({ load }) => load[key][HEAVIEST] ?? [])
        .flatMap(({ memory }) => (memory === null ? [] : [memory / 1e6])),
    );
  const byKey = (of) => columns.map((key) => (key === "eager" ? "–" : of(key)));
  const heads = ["", "ours", "ours, wasm compiled beforehand", "tuned Hono"];
  return table(
    [...heads, "limit: one KV call", "limit: no work"],
    [
      ...rows,
      ["upload after brotli, KB", ...byKey(upload)],
      [`memory after ${HEAVIEST}, MB`, ...byKey(memory)],
    ],
  );
}
