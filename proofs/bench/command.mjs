/** `npm run bench [-- part…]`: how fast everything is beside its peers. */
import { Argument, command } from "../../scripts/lib/command.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { PART_NAMES, bench } from "./main.mjs";

const program = command(
  "npm run bench --",
  "How fast everything is beside its peers, as tables; about 10 minutes.\nLeave the machine alone meanwhile.",
)
  .addArgument(
    new Argument(
      "[parts...]",
      "validate: the package against other validators, in Node and in Chromium; service: the Worker against Hono and zod, on workerd under load of wrk; none means both",
    ).choices(PART_NAMES),
  )
  .option("--runs <n>", "separate runs, of which the tables show medians", readCount, 1)
  .option("--quick", "a minute, to see that everything runs; the figures mean nothing", false)
  .option("--write", "into docs/performance.md instead of build/bench", false)
  .option("--no-build", "measure what is in build and pkg");

function readCount(text) {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 100) return count;
  return program.error(`\`--runs ${text}\` is not a number from 1 to 100`);
}

program.action(async (names, { runs, quick, write, build }) => {
  const parts = names.length > 0 ? names : PART_NAMES;
  await bench(await prepareTools({ browser: parts.includes("validate") }), {
    parts,
    runs,
    quick,
    intoDocs: write,
    build,
  });
});
await program.parseAsync();
