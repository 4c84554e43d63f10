/** `npm run simulate [-- --minutes 10]`: runs the service over a Workers KV that fails, with new seeds. */
import { findBugs } from "./bugs.mjs";
import { command, readMinutes } from "../../../scripts/lib/command.mjs";
import { prepareTools } from "../../../scripts/setup/tools.mjs";
import { log } from "../../../scripts/lib/output.mjs";
import { run } from "../../../scripts/lib/run.mjs";

const ABOUT = `Runs millions of requests to the service over a simulated Workers KV that is eventually consistent and fails, on all
processors and with new seeds. Then it runs racing creates in every order, with each single failure. It ends at the first violation
of a promise, and shows its seed and a trace. SEED=7 npm run simulate plays that seed again.`;
/** Settings for an optimized build that keeps the checks of a debug build. */
const OPTIMISED = { CARGO_PROFILE_DEV_OPT_LEVEL: "3" };

const program = command("npm run simulate --", ABOUT)
  .option("--minutes <n>", "how long", readMinutes, 10)
  .option(
    "--bugs [words]",
    "plants bugs in a copy of the service instead, and checks that each is found; with words, only bugs that they describe",
  );

program.action(async ({ minutes, bugs }) => {
  const tools = await prepareTools();
  if (bugs) return findBugs(tools, bugs === true ? "" : bugs);
  const first = String(Date.now()); // a later run has other seeds, because a seed takes longer than a millisecond
  const { SEED } = process.env;
  const seeds = SEED ? { SEED } : { SEED: first, MINUTES: String(minutes) };
  if (!SEED) log(`${minutes} min, from seed ${first}`);
  const args = ["test", "--quiet", "--all-features", "--test", "simulation", "--", "--nocapture"];
  await run(tools.native.cargo, SEED ? [...args, "no_seed"] : args, {
    cwd: tools.root,
    env: { ...tools.native.env, ...OPTIMISED, ...seeds },
    show: true,
  });
});
await program.parseAsync();
