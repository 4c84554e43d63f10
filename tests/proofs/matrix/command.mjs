/** `npm run matrix [-- environment…]`: tests the packed package in every environment that it supports. */
import { command } from "../../../scripts/lib/command.mjs";
import { prepareTools } from "../../../scripts/setup/tools.mjs";
import { chosen, matrix } from "./main.mjs";

const program = command(
  "npm run matrix --",
  "The packed package in every environment that it is made for, about 2 minutes.",
)
  .argument("[environments...]", "names, or beginnings of names such as `vite`; none means all")
  .option("--list", "print the names")
  .option("--no-build", "try what is in pkg");

program.action(async (names, { list, build }) => {
  const environments = chosen(names);
  const unknown = names.find((name) => chosen([name]).length === 0);
  if (unknown !== undefined)
    program.error(
      `there is no environment \`${unknown}\`; name one of: ${chosen([])
        .map(({ name }) => name)
        .join(", ")}`,
    );
  if (list) return console.log(environments.map(({ name }) => name).join("\n"));
  const { passed, failed, skipped } = await matrix(
    await prepareTools({ browser: true }),
    environments,
    {
      build,
    },
  );
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
});
await program.parseAsync();
