/** `npm run prove [-- --requests 100000]`: the Worker on workerd over a KV that fails, killed in the middle. */
import { violations } from "../tests/faults/oracle.mjs";
import { play } from "../tests/faults/run.mjs";
import { summary } from "../tests/faults/summary.mjs";
import { InvalidArgumentError, command } from "./lib/command.mjs";
import { ready } from "./lib/ready.mjs";
import { Stop, duration, say } from "./lib/report.mjs";
import { run } from "./lib/run.mjs";

const ABOUT = `Mixed requests to the Worker on workerd, over a Workers KV of our own that fails, while workerd is killed and the
service traps. An oracle says whether anything was lost or doubled. The seed decides what is asked and what fails.`;

const program = command("npm run prove --", ABOUT)
  .option("--requests <n>", "how many", whole(1_000, 1_000_000), 100_000)
  .option("--connections <n>", "how many at a time", whole(1, 1_000), 64)
  .option("--kills <n>", "how often workerd is killed", whole(0, 100), 10)
  .option("--traps <n>", "how often the service is made to panic", whole(0, 100), 5)
  .option("--crowds <n>", "how often 64 bodies of 1 MiB come at once", whole(0, 10), 5)
  .option("--percent <n>", "so many of KV's calls fail", whole(0, 50), 1)
  .option("--seed <n>", "of an earlier run", whole(0, Number.MAX_SAFE_INTEGER), Date.now());

/** Reads a whole number within bounds. */
function whole(least, most) {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

program.action(async ({ percent, ...plan }) => {
  const tools = await ready();
  await run(process.execPath, ["scripts/run.mjs", "build", "worker"], { cwd: tools.root, env: tools.env, show: true });
  const started = Date.now();
  const progress = (done) => done % 5_000 === 0 && say(`${done} of ${plan.requests} requests after ${duration(Date.now() - started)}`);
  const history = await play(tools, { ...plan, share: percent / 100, repeats: 5_000, progress });
  const found = violations(history);
  console.log(summary(history, found, plan));
  if (found.length > 0) throw new Stop(`${found.length} violations; \`npm run prove -- --seed ${plan.seed}\` asks the same again`);
});
await program.parseAsync();
