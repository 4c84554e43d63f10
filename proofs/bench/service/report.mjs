/** The results of `bench:service` as Markdown. */
import { ask } from "../../../scripts/lib/run.mjs";
import { figure, median, ratio, spread } from "../numbers.mjs";
import { provenance, table, versionsOf } from "../report.mjs";

const OURS = "impact-pledge";

const LOAD = `Each cell: requests per second; microseconds of processor time of \`workerd\` per request, the KV stand-in's included; milliseconds of waiting at p50 / p99. Figures are medians, with the range over the runs. \`×\`: how many times as many requests ${OURS} serves, and how many times as much processor time the other needs.`;
const STANDING = "Milliseconds of start, kilobytes of upload, megabytes of memory.";

/** @param {object[]} runs what `run` gave @param {{bench: string, root: string}} environment */
export function report(runs, { bench, root }) {
  const versions = {
    ...versionsOf(root, ["workerd", "wrangler"]),
    ...versionsOf(bench, ["hono", "zod"]),
    wrk: wrkVersion(),
  };
  return [
    `${provenance(versions, runs.length)} ${LOAD}`,
    loadTable(runs),
    STANDING,
    standingTable(runs),
  ].join("\n\n");
}

/** `wrk debian/4.1.0-3+b2 [epoll] …`: it says so and calls that an error. */
function wrkVersion() {
  const text = ask("sh", ["-c", "wrk --version 2>&1; true"]) ?? "";
  return text.match(/(\d+\.\d+\.\d+)/)?.[1] ?? "of unknown version";
}

function loadTable(runs) {
  const { load } = runs[0];
  const names = Object.keys(load);
  const rows = Object.keys(load[OURS]).map((kind) => [
    kind,
    ...names.map((name) => loadCell(runs, name, kind)),
  ]);
  return table(["request", ...names], rows);
}

function loadCell(runs, name, kind) {
  if (runs[0].load[name][kind].length === 0) return "–";
  const slices = (what, of = name) =>
    runs
      .map((run) => run.load[of][kind].map((slice) => slice[what]))
      .filter((values) => !values.includes(null)); // no processor time but on Linux
  const medians = (what) => slices(what).map(median);
  const isRival = name !== OURS && !isLimit(runs[0], name);
  const times = (above, below) =>
    isRival && above.length > 0
      ? `, ${figure(median(above.map((values, run) => ratio(values, below[run]))))} ×`
      : "";
  const waited = (what) => figure(median(medians(what)) / 1_000);
  return [
    spread(medians("perSecond"), "/s") + times(slices("perSecond", OURS), slices("perSecond")),
    spread(medians("cpu"), " µs") + times(slices("cpu"), slices("cpu", OURS)),
    `${waited("p50")} / ${waited("p99")} ms`,
  ].join("<br>");
}

/** A lower bound makes no create. */
const isLimit = ({ starts }, name) => starts[name].create.length === 0;

function standingTable(runs) {
  const heads = [
    "",
    "process start to first answer",
    "first create after that",
    "upload: raw / gzip / brotli",
    "memory after the load above",
  ];
  const rows = runs[0].upload.map(({ name, raw, gzip, brotli }) => {
    const started = (what) =>
      spread(
        runs
          .map((run) => run.starts[name][what])
          .filter(({ length }) => length > 0)
          .map(median),
      );
    const memory = runs.map((run) => run.memory[name]).filter((bytes) => bytes !== null);
    return [
      name,
      started("answer"),
      started("create"),
      [raw, gzip, brotli].map((bytes) => figure(bytes / 1_000)).join(" / "),
      spread(memory.map((bytes) => bytes / 1e6)),
    ];
  });
  return table(heads, rows);
}
