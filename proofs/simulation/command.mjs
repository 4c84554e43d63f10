/** `npm run simulate [-- --minutes 10]`: the service over a Workers KV that fails, by new seeds. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { findBugs } from "./bugs.mjs";
import { loadWorker } from "./host.mjs";
import { PROFILE, record, seedsWith } from "./record.mjs";
import { replay } from "./replay.mjs";
import { command, readMinutes } from "../../scripts/lib/command.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { UserError, log } from "../../scripts/lib/output.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { buildWorker } from "../../scripts/worker.mjs";

const ABOUT = `Millions of requests to the service over a simulated Workers KV that is eventually consistent and fails, on all
processors; every seed is new. One process plays its seeds on the built Worker's wasm too, which must do the same. It ends with
the first violation of a promise, shown with its seed and a trace, or the first difference; SEED=7 npm run simulate plays that
seed again.`;
const APART = 1e12; // from the first seed of one process to that of the next
const SHOWN_MS = 5_000;

const program = command("npm run simulate --", ABOUT)
  .option("--minutes <n>", "how long", readMinutes, 10)
  .option("--bugs", "plants bugs in a copy of the service instead, to see that each is found");

program.action(async ({ minutes, bugs }) => {
  const tools = await prepareTools();
  if (bugs) return findBugs(tools);
  await playNatively(tools, {}, "--no-run"); // built once, before the processes run side by side
  await buildWorker(tools);
  const plans = process.env.SEED ? [{}, {}] : newSeeds(minutes);
  const [onWasm, ...natively] = plans;
  const results = await Promise.allSettled([
    playOnWasm(tools, onWasm),
    ...natively.map((seeds) => playNatively(tools, seeds)),
  ]);
  if (results[0].status === "rejected") log(results[0].reason.message);
  if (results.some(({ status }) => status === "rejected"))
    throw new UserError(
      "a promise is violated, or the wasm does something else: see the seed and the trace above",
    );
});

/** Variables for each process. A later run has other seeds: a millisecond is too short for one. */
function newSeeds(minutes) {
  const first = Date.now();
  const natives = Math.max(1, availableParallelism() - 1);
  log(`${natives} native and one on wasm, each for ${minutes} min, from seed ${first}`);
  return Array.from({ length: natives + 1 }, (_, index) => ({
    MINUTES: String(minutes),
    FROM: String(first + index * APART),
  }));
}

const playNatively = ({ root, native }, seeds, ...more) =>
  run(native.cargo, seedsWith(...PROFILE, ...more), {
    cwd: root,
    env: { ...native.env, ...seeds },
    show: true,
  });

/** Compares what the wasm does with seeds of a native process of its own. */
async function playOnWasm(tools, seeds) {
  const startIsolate = await loadWorker(join(tools.root, "build"));
  const started = Date.now();
  const all = { seeds: 0, requests: 0 };
  let shown = started;
  const show = () => {
    const hourly = Math.round((all.requests * 3.6e6) / (Date.now() - started));
    log(`on wasm: ${all.seeds} seeds, ${all.requests} requests (${hourly} an hour), no difference`);
  };
  for await (const recording of record(tools, seeds, ...PROFILE)) {
    const counts = await replay(recording, startIsolate);
    all.seeds += 1;
    all.requests += counts.answer;
    if (Date.now() - shown < SHOWN_MS) continue;
    show();
    shown = Date.now();
  }
  show();
}
await program.parseAsync();
