/** `npm run faults [-- --requests 100000]`: the Worker on workerd over a KV that fails, killed in the middle. */
import { violations } from "./oracle.mjs";
import { play } from "./run.mjs";
import { summary } from "./summary.mjs";
import { command, whole } from "../../scripts/lib/command.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { UserError, duration, log } from "../../scripts/lib/output.mjs";
import { buildWorker } from "../../scripts/worker.mjs";

const ABOUT = `Mixed requests to the Worker on workerd, over a Workers KV of our own that fails, while workerd is killed and the
service traps. An oracle says whether anything was lost or doubled. The seed decides what is asked and what fails.`;
const SHOWN_EVERY = 5_000;

const program = command("npm run faults --", ABOUT)
  .option("--requests <n>", "how many", whole(100, 1_000_000), 100_000)
  .option("--connections <n>", "how many at a time", whole(1, 1_000), 64)
  .option("--kills <n>", "how often workerd is killed", whole(0, 100), 10)
  .option("--traps <n>", "how often the service is made to panic", whole(0, 100), 5)
  .option("--crowds <n>", "how often 64 bodies of 1 MiB come at once", whole(0, 10), 5)
  .option("--percent <n>", "so many of KV's calls fail", whole(0, 50), 1)
  .option(
    "--seed <n>",
    "of an earlier run, which asks the same again (default: a new one)",
    whole(0, Number.MAX_SAFE_INTEGER),
  );

program.action(async ({ percent, ...options }) => {
  const tools = await prepareTools();
  await buildWorker(tools);
  const plan = { seed: Date.now(), ...options };
  const started = Date.now();
  const progress = (done) => {
    if (done % SHOWN_EVERY > 0) return;
    log(`${done} of ${plan.requests} requests after ${duration(Date.now() - started)}`);
  };
  const history = await play(tools, { ...plan, share: percent / 100, repeats: 5_000, progress });
  const found = violations(history);
  console.log(summary(history, found, plan));
  if (found.length > 0)
    throw new UserError(
      `${found.length} violations; \`npm run faults -- --seed ${plan.seed}\` asks the same again`,
    );
});
await program.parseAsync();
