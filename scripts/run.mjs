/** `node scripts/run.mjs COMMAND …` runs scripts/COMMAND.mjs once the npm packages and a new enough Node are there. */
import { bootstrap } from "./lib/bootstrap.mjs";
import { report } from "./lib/report.mjs";

try {
  await bootstrap();
  const [name] = process.argv.splice(2, 1); // what remains is the command's own
  await import(`./${name}.mjs`);
} catch (error) {
  process.exitCode = report(error);
}
