/** `node scripts/run.mjs COMMAND …`: installs the npm packages if needed, and runs scripts/COMMAND.mjs with a Node that is new enough. */
import { bootstrap } from "./lib/bootstrap.mjs";
import { runToEnd } from "./lib/output.mjs";

await runToEnd(async (to) => {
  await bootstrap();
  const [name] = process.argv.splice(2, 1); // the rest are the command's arguments
  const { default: program } = await import(`./${name}.mjs`);
  return program?.run(process.argv.slice(2), to); // a script that exports nothing ran during its import
});
