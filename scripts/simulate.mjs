/** `npm run simulate [-- --minutes 10]`: the service over a Workers KV that fails, by seeds that nobody has tried. */
import { availableParallelism } from "node:os";
import { findBugs } from "../tests/simulation/bugs.mjs";
import { command } from "./lib/command.mjs";
import { ready } from "./lib/ready.mjs";
import { Stop, say } from "./lib/report.mjs";
import { run } from "./lib/run.mjs";

const ABOUT = `Millions of requests to the service over a simulated Workers KV that is eventually consistent and fails, on all
processors; every seed is new. It ends with the first violation of a promise, shown with its seed and a trace;
SEED=7 npm run simulate plays that seed again.`;
const TEST = ["test", "--profile", "simulation", "--all-features", "--test", "simulation"];
const APART = 1e12; // from the first seed of one process to that of the next

const program = command("npm run simulate --", ABOUT)
  .option("--minutes <n>", "how long", readMinutes, 10)
  .option("--bugs", "plants bugs in a copy of the service instead, to see that each is found");

function readMinutes(text) {
  const minutes = Number(text);
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= 1440) return minutes;
  return program.error(`\`--minutes ${text}\` is not a whole number from 1 to 1440`);
}

program.action(async ({ minutes, bugs }) => {
  const tools = await ready();
  if (bugs) return findBugs(tools);
  const { root, native } = tools;
  const cargo = (args, env) => run(native.cargo, [...TEST, ...args], { cwd: root, env: { ...native.env, ...env }, show: true });
  await cargo(["--no-run"], {}); // once, before the processes run side by side
  const play = (env) => cargo(["--quiet", "--", "--nocapture", "no_seed"], env);
  if (process.env.SEED) return play({});
  const first = Date.now(); // a later run has other seeds: a millisecond is too short for one
  const processes = Array.from({ length: availableParallelism() }, (_, index) => play({ MINUTES: `${minutes}`, FROM: `${first + index * APART}` }));
  say(`${processes.length} processes, each for ${minutes} min, from seed ${first}`);
  const failures = (await Promise.allSettled(processes)).filter(({ status }) => status === "rejected");
  if (failures.length > 0) throw new Stop("a promise is violated: see the seed and the trace above");
});
await program.parseAsync();
