/** `node scripts/run.mjs COMMAND …` runs scripts/COMMAND.mjs once the npm packages and a new enough Node are there. */
import { bootstrap } from "./lib/bootstrap.mjs";
import { runToEnd } from "./lib/output.mjs";

await runToEnd(async (to) => {
  await bootstrap();
  const [name] = process.argv.splice(2, 1); // what remains is the command's own
  const { default: program } = await import(`./${name}.mjs`);
  return program?.run(process.argv.slice(2), to); // one that exports nothing has run by now
});
