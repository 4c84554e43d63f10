/**
 * Measures the cost of the ledger's queue for a create request on workerd, in microseconds of processor time
 * per request.
 *
 *     node scripts/run.mjs ../tests/proofs/bench/service/queue                             # build/, 12 min
 *     node scripts/run.mjs ../tests/proofs/bench/service/queue --before /clone/build       # beside another build
 *     … --only "POST small"   one kind of create; also --no-limits (the service and its stand-in alone), --rounds 4
 *
 * Each figure comes from separate processes, which take turns. The service without a queue runs twice, and
 * the difference between its two runs is the noise. The other build of `--before` runs without a queue, too.
 *
 * The first column of each table is the baseline: the Worker with which the others are compared. In the first
 * table, the baseline is the other build, or else the service without a queue. In the second table, it is a
 * Worker that makes one KV call and sends no message. A ratio is the median of the rounds' ratios to the
 * baseline.
 *
 * The stand-in queue accepts a message at once, so that only the sender's work is measured. The platform's
 * queue is workerd's own, and a Worker in the same process receives its messages.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { InvalidArgumentError, command, whole } from "../../../../scripts/lib/command.mjs";
import { UserError, log, table } from "../../../../scripts/lib/output.mjs";
import { seedData } from "../../../../scripts/lib/seed.mjs";
import { prepareTools } from "../../../../scripts/setup/tools.mjs";
import { figure, median, noise, ratio, rotated } from "../numbers.mjs";
import { KINDS, creates, kindsOf, send } from "./requests.mjs";
import { measured } from "./run.mjs";
import { Server, bundle } from "./workerd.mjs";
import { wrk } from "./wrk.mjs";

const WORKERS = join(import.meta.dirname, "workers");
/** How long to wait for a message to be sent, in milliseconds. */
const SETTLED_MS = 500;
const SECONDS = { warmUp: 1.5, seconds: 1.5 };
const CREATES = KINDS.filter(({ name }) => name.startsWith("POST"));

/** @typedef {{key: string, main: string, queue?: import("./workerd.mjs").Queue}} Entry */

const program = command(
  "node scripts/run.mjs ../tests/proofs/bench/service/queue",
  "What the ledger's queue takes of a create on workerd, in microseconds of processor time.",
)
  .option("--before <folder>", "another built Worker, which runs without a queue")
  .option(
    "--only <kinds>",
    `some of them: ${CREATES.map(({ name }) => name).join("; ")}`,
    readCreates,
  )
  .option("--no-limits", "the service alone, without a plain Worker and the platform's queue")
  .option("--rounds <n>", "processes of each Worker and kind of request", whole(1, 99), 8);

program.action(async ({ before, only = CREATES, limits, rounds }) => {
  const tools = await prepareTools();
  const folder = join(tools.root, "build", "bench", "queue");
  mkdirSync(folder, { recursive: true });
  const { entries: seeds } = await seedData(tools);
  const setting = { tools, program: await wrk(), plan: SECONDS, seeds, folder };
  const entries = [...services(tools.root, before), ...(limits ? limiting(tools.root) : [])];
  const arms = await bundleAll(tools, folder, entries);
  for (const arm of arms) await mustSend(setting, arm);
  const figures = await loadAll(setting, { arms, kinds: only, rounds });
  for (const [base, keys] of tables(before ? "before" : "no queue"))
    if (arms.some(({ key }) => key === base)) console.log(`${tableOf(figures, base, keys)}\n`);
});

/**
 * Returns the tables of the report. Each table consists of the baseline Worker, and the Workers that are
 * compared with it. Workers that did not run have no column.
 * @returns {[string, string[]][]}
 */
const tables = (base) => [
  [base, ["no queue", "again", "stand-in", "platform's queue"].filter((key) => key !== base)],
  ["KV call", ["KV call, stand-in", "KV call, platform's queue"]],
];

function readCreates(text) {
  const kinds = kindsOf(text);
  if (!kinds?.every((kind) => CREATES.includes(kind)))
    throw new InvalidArgumentError("No creates.");
  return kinds;
}

const ours = (root) => join(root, "build", "worker.js");

/** @returns {Entry[]} */
const services = (root, before) => [
  { key: "no queue", main: ours(root) },
  { key: "again", main: ours(root) },
  ...(before ? [{ key: "before", main: resolve(before, "worker.js") }] : []),
  { key: "stand-in", main: ours(root), queue: "stand-in" },
];

/** @returns {Entry[]} */
function limiting(root) {
  const sending = join(WORKERS, "sending.mjs");
  return [
    { key: "platform's queue", main: ours(root), queue: "platform" },
    { key: "KV call", main: join(WORKERS, "safe.mjs") },
    { key: "KV call, stand-in", main: sending, queue: "stand-in" },
    { key: "KV call, platform's queue", main: sending, queue: "platform" },
  ];
}

async function bundleAll(tools, folder, entries) {
  const arms = [];
  for (const [index, { key, main, queue }] of entries.entries())
    arms.push({ key, ...(await bundle(tools, { main, folder: join(folder, `${index}`), queue })) });
  return arms;
}

/** Checks that the queue accepts the message of a create request. If it does not, the Worker logs a line. */
async function mustSend({ tools, seeds }, arm) {
  const server = await Server.start(tools, arm);
  try {
    await server.seed(seeds);
    const [request] = creates(1, 1);
    await send(server.origin, request);
    await pause(SETTLED_MS);
    if (server.output) throw new UserError(`${arm.key} has logged:\n${server.output}`);
  } finally {
    await server.end();
  }
}

/**
 * Measures all Workers with all kinds of request.
 * @returns {Promise<Record<string, Record<string, number[]>>>} by kind of request, then by Worker
 */
async function loadAll(setting, { arms, kinds, rounds }) {
  const none = () => Object.fromEntries(arms.map(({ key }) => [key, []]));
  const figures = Object.fromEntries(kinds.map(({ name }) => [name, none()]));
  for (let round = 0; round < rounds; round += 1) {
    log(`round ${round + 1} of ${rounds}`);
    for (const kind of kinds)
      for (const arm of rotated(arms, round))
        figures[kind.name][arm.key].push((await measured(setting, arm, kind, null)).cpu);
    writeFileSync(join(setting.folder, "figures.json"), JSON.stringify(figures));
  }
  return figures;
}

function tableOf(figures, base, keys) {
  const [first] = Object.values(figures);
  const columns = keys.filter((key) => key in first);
  const rows = Object.entries(figures).map(([kind, times]) => {
    const limit = noise(times["no queue"], times.again);
    const cell = (key) =>
      `${figure(median(times[key]))}, ${ratio(times[key], times[base]).toFixed(2)} ×`;
    const noted = `± ${Math.ceil((limit - 1) * 100)} %`;
    return [kind, figure(median(times[base])), noted, ...columns.map(cell)];
  });
  return table(["µs per request", base, "noise", ...columns], rows);
}

await program.parseAsync();
