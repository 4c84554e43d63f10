/**
 * `npm run faults [-- --requests 100000]`: runs the Worker on workerd with a stand-in for Workers KV that
 * fails. Meanwhile, kills workerd repeatedly.
 */
import { command, whole } from "../../../scripts/lib/command.mjs";
import { prepareTools } from "../../../scripts/setup/tools.mjs";
import { buildWorker } from "../../../scripts/lib/worker.mjs";
import { faults } from "./main.mjs";

const ABOUT = `Sends mixed requests to the Worker on workerd, over a stand-in for Workers KV that fails, while workerd is killed and the
service traps. An oracle says whether anything was lost or doubled. The seed decides the requests and the faults.`;

const program = command("npm run faults --", ABOUT)
  .option("--requests <n>", "how many (default: 100000)", whole(500, 1_000_000))
  .option("--kills <n>", "how often workerd is killed (default: 10)", whole(0, 100))
  .option(
    "--seed <n>",
    "the seed of an earlier run, to send the same requests again (default: a new one)",
    whole(0, Number.MAX_SAFE_INTEGER),
  );

program.action(async (wish) => {
  const tools = await prepareTools();
  await buildWorker(tools);
  console.log(await faults(tools, wish));
});
await program.parseAsync();
