/** `npm run bench [-- part…]`: how fast everything is beside its peers. */
import { ready } from "./lib/ready.mjs";
import { BadUsage, readArguments, runScript } from "./lib/usage.mjs";

const HELP = `How fast everything is beside its peers, as tables and pictures.

  npm run bench                       both parts, about 10 minutes
  npm run bench:validate              the package against other validators, in Node and in Chromium
  npm run bench:service               the Worker against Hono and zod, on workerd under load of wrk

  --runs N      separate runs, of which the tables show medians (1)
  --quick       a minute, to see that everything runs; the figures mean nothing
  --write       into docs/performance.md and docs/*.svg instead of build/bench
  --no-build    measure what is in build and pkg

Leave the machine alone meanwhile.`;

const OPTIONS = { runs: { type: "string", default: "1" }, quick: { type: "boolean" }, write: { type: "boolean" }, "no-build": { type: "boolean" } };

function readCount(text) {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 100) return count;
  throw new BadUsage(`\`--runs ${text}\` is not a number from 1 to 100`);
}

await runScript(HELP, async (showHelp) => {
  const { values, positionals } = readArguments(OPTIONS);
  if (values.help) return showHelp();
  const named = positionals;
  const wish = { runs: readCount(values.runs), quick: Boolean(values.quick), intoDocs: Boolean(values.write), build: !values["no-build"] };
  const tools = await ready({ browser: named.length === 0 || named.includes("validate") });
  const { PART_NAMES, bench } = await import("../bench/main.mjs");
  const unknown = named.find((name) => !PART_NAMES.includes(name));
  if (unknown !== undefined) throw new BadUsage(`there is no part \`${unknown}\`; name one of: ${PART_NAMES.join(", ")}`);
  await bench(tools, { ...wish, parts: named.length > 0 ? named : PART_NAMES });
});
