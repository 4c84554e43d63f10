/** `npm run prove [-- --requests 100000]`: the Worker on workerd over a KV that fails, killed in the middle. */
import { violations } from "../tests/faults/oracle.mjs";
import { NAMESPACE, WORKERS, WRITES_PER_REQUEST, playRemote } from "../tests/faults/remote.mjs";
import { play } from "../tests/faults/run.mjs";
import { summary } from "../tests/faults/summary.mjs";
import { InvalidArgumentError, command, whole } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, duration, log } from "./lib/output.mjs";
import { run } from "./lib/run.mjs";

const ABOUT = `Mixed requests to the Worker on workerd, over a Workers KV of our own that fails, while workerd is killed and the
service traps. An oracle says whether anything was lost or doubled. The seed decides what is asked and what fails.`;

const LOCAL_REQUESTS = 100_000;
const REMOTE = { requests: 2_000, connections: 16, minutes: 10 };
const FREE_WRITES = 1_000; // of KV, in a day

const program = command("npm run prove --", ABOUT)
  .option(
    "--requests <n>",
    `how many (default: ${LOCAL_REQUESTS}; with --remote ${REMOTE.requests})`,
    whole(100, 1_000_000),
  )
  .option("--connections <n>", "how many at a time", whole(1, 1_000), 64)
  .option("--kills <n>", "how often workerd is killed", whole(0, 100), 10)
  .option("--traps <n>", "how often the service is made to panic", whole(0, 100), 5)
  .option("--crowds <n>", "how often 64 bodies of 1 MiB come at once", whole(0, 10), 5)
  .option("--percent <n>", "so many of KV's calls fail", whole(0, 50), 1)
  .option(
    "--seed <n>",
    "of an earlier run, which asks the same again (default: a new one)",
    whole(0, Number.MAX_SAFE_INTEGER),
  )
  .option(
    "--remote",
    `without faults on Cloudflare: two Workers over one namespace, deleted again; at most ${REMOTE.minutes} minutes`,
  )
  .option("--regions <a,b>", "of the two Workers", regions, ["aws:us-east-1", "aws:eu-central-1"])
  .option("--yes", "make them in the account that wrangler is logged in to");

function regions(text) {
  const names = text.split(",");
  if (names.length === WORKERS.length && names.every((name) => /^[a-z]+:[\w-]+$/.test(name)))
    return names;
  throw new InvalidArgumentError(
    "It must be two of Cloudflare's regions, such as `aws:us-east-1,gcp:europe-west1`.",
  );
}

program.action(async ({ remote, ...options }) => {
  const plan = {
    seed: Date.now(),
    ...options,
    requests: options.requests ?? (remote ? REMOTE.requests : LOCAL_REQUESTS),
  };
  if (remote && !plan.yes) throw new UserError(announcement(plan));
  const tools = await prepareTools();
  await run(process.execPath, ["scripts/run.mjs", "build", "worker"], {
    cwd: tools.root,
    env: tools.env,
    show: true,
  });
  const history = await (remote ? onCloudflare(tools, plan) : here(tools, plan));
  const found = violations(history);
  console.log(summary(history, found, plan));
  if (found.length > 0)
    throw new UserError(
      `${found.length} violations; \`npm run prove -- --seed ${plan.seed}\` asks the same again`,
    );
});

function here(tools, { percent, ...plan }) {
  const started = Date.now();
  const progress = (done) =>
    done % 5_000 === 0 &&
    log(`${done} of ${plan.requests} requests after ${duration(Date.now() - started)}`);
  return play(tools, { ...plan, share: percent / 100, repeats: 5_000, progress });
}

/** What it will do and cost. */
function announcement({ requests, regions }) {
  const [count, writes, fitting] = [
    requests,
    requests * WRITES_PER_REQUEST,
    FREE_WRITES / WRITES_PER_REQUEST,
  ].map((number) => (Math.floor(number / 100) * 100).toLocaleString("en-US"));
  return `nothing was made. With \`--yes\` this makes the KV namespace \`${NAMESPACE}\` and the Workers \`${WORKERS[0]}\` in ${regions[0]}
and \`${WORKERS[1]}\` in ${regions[1]} in the account that wrangler is logged in to, sends them ${count} requests within
${REMOTE.minutes} minutes, and deletes all three. It takes about ${writes} writes of Workers KV; the free plan has ${FREE_WRITES.toLocaleString("en-US")} a day,
which about ${fitting} requests take (\`--requests\`).`;
}

/** Ends at Ctrl-C, too, and deletes what was made. */
function onCloudflare(tools, plan) {
  const end = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"])
    process.on(name, () => end.abort(new UserError(`ended by ${name}`)));
  const late = AbortSignal.timeout(REMOTE.minutes * 60_000);
  return playRemote(tools, {
    ...plan,
    connections: Math.min(plan.connections, REMOTE.connections),
    signal: AbortSignal.any([end.signal, late]),
  });
}
await program.parseAsync();
