/**
 * `npm run bench [-- part…]`: compares the speed and size of the package and the service with those of similar
 * libraries.
 */
import { Argument, InvalidArgumentError, command, whole } from "../../../scripts/lib/command.mjs";
import { prepareTools } from "../../../scripts/setup/tools.mjs";
import { PART_NAMES, bench } from "./main.mjs";
import { KINDS, kindsOf } from "./service/requests.mjs";

const NAMES = KINDS.map(({ name }) => name).join("; ");

function readKinds(text) {
  const kinds = kindsOf(text);
  if (!kinds) throw new InvalidArgumentError(`Kinds: ${NAMES}.`);
  return kinds;
}

const program = command(
  "npm run bench --",
  "How fast everything is beside its peers, as tables; about 20 minutes.\nLeave the machine alone meanwhile.",
)
  .addArgument(
    new Argument(
      "[parts...]",
      "validate: the package against other validators, in Node and in Chromium; service: the Worker against the same API in Hono and zod, on workerd under load of wrk; waits: what a request waits for if Workers KV is slow; sizes: bytes after brotli; none means all",
    ).choices(PART_NAMES),
  )
  .option("--runs <n>", "separate runs, of which the tables show medians", whole(1, 100), 1)
  .option(
    "--quick",
    "a minute or two, to see that everything runs; the figures mean nothing",
    false,
  )
  .option(
    "--only <kinds>",
    `some kinds of request to the service, with commas: ${NAMES}`,
    readKinds,
  )
  .option("--write", "into docs/performance.md instead of build/bench", false)
  .option("--no-build", "measure what is in build and pkg");

program.action(async (names, { runs, quick, only, write, build }) => {
  const parts = names.length > 0 ? names : PART_NAMES;
  await bench(await prepareTools({ browser: parts.includes("validate") }), {
    parts,
    runs,
    quick,
    intoDocs: write,
    build,
    kinds: only,
  });
});
await program.parseAsync();
