/** `npm run simulate [-- --minutes 10]`: the service over a Workers KV that fails, by seeds that nobody has tried. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { findBugs } from "../tests/simulation/bugs.mjs";
import { loadWorker } from "../tests/simulation/host.mjs";
import { PROFILE, record, seedsWith } from "../tests/simulation/record.mjs";
import { replay } from "../tests/simulation/replay.mjs";
import { command, readMinutes } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, log } from "./lib/output.mjs";
import { run } from "./lib/run.mjs";

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
  const { root, native } = tools;
  const cargo = (args, env) =>
    run(native.cargo, args, { cwd: root, env: { ...native.env, ...env }, show: true });
  await cargo(seedsWith(...PROFILE, "--no-run"), {}); // once, before the processes run side by side
  await run(process.execPath, [join("scripts", "run.mjs"), "build", "worker"], {
    cwd: root,
    show: true,
  });
  const first = Date.now(); // a later run has other seeds: a millisecond is too short for one
  const seeds = (index) =>
    process.env.SEED ? {} : { MINUTES: `${minutes}`, FROM: `${first + index * APART}` };
  const processes = process.env.SEED ? 1 : Math.max(1, availableParallelism() - 1);
  if (!process.env.SEED)
    log(`${processes} native and one on wasm, each for ${minutes} min, from seed ${first}`);
  const natives = Array.from({ length: processes }, (_, index) =>
    cargo(seedsWith(...PROFILE), seeds(index)),
  );
  const onWasm = playOnWasm(tools, seeds(processes)).catch(({ message }) =>
    Promise.reject(log(message)),
  );
  const failures = (await Promise.allSettled([onWasm, ...natives])).filter(
    ({ status }) => status === "rejected",
  );
  if (failures.length > 0)
    throw new UserError(
      "a promise is violated, or the wasm does something else: see the seed and the trace above",
    );
});

/** Compares what the wasm does with seeds of a native process of its own. */
async function playOnWasm(tools, env) {
  const startIsolate = await loadWorker(join(tools.root, "build"));
  const [started, all] = [Date.now(), { seeds: 0, requests: 0 }];
  let shown = started;
  const show = () =>
    log(
      `on wasm: ${all.seeds} seeds, ${all.requests} requests (${Math.round((all.requests * 3.6e6) / (Date.now() - started))} an hour), no difference`,
    );
  for await (const recording of record(tools, env, ...PROFILE)) {
    const counts = await replay(recording, startIsolate);
    [all.seeds, all.requests] = [all.seeds + 1, all.requests + counts.answer];
    if (Date.now() - shown < SHOWN_MS) continue;
    show();
    shown = Date.now();
  }
  show();
}
await program.parseAsync();
