/** `npm run matrix [-- environment…]`: the packed package in every environment that it is made for. */
import { ready } from "./lib/ready.mjs";
import { BadUsage, readArguments, runScript } from "./lib/usage.mjs";

const HELP = `The packed package in every environment that it is made for, about 2 minutes.

  npm run matrix                 all of them
  npm run matrix -- vite next    those whose names begin so
  npm run matrix -- --list       their names

  --no-build    try what is in pkg`;

const OPTIONS = { list: { type: "boolean" }, "no-build": { type: "boolean" } };

await runScript(HELP, async (showHelp) => {
  const { values, positionals: names } = readArguments(OPTIONS);
  if (values.help) return showHelp();
  const { chosen, matrix } = await import("../tests/matrix/main.mjs");
  const environments = chosen(names);
  const unknown = names.find((name) => chosen([name]).length === 0);
  if (unknown !== undefined) throw new BadUsage(`there is no environment \`${unknown}\`; name one of: ${chosen([]).map(({ name }) => name).join(", ")}`);
  if (values.list) return console.log(environments.map(({ name }) => name).join("\n"));
  const { passed, failed, skipped } = await matrix(await ready({ browser: true }), environments, { build: !values["no-build"] });
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
});
