/** `node scripts/run.mjs COMMAND …` runs scripts/COMMAND.mjs once the npm packages and a new enough Node are there. */
import { bootstrap } from "./lib/bootstrap.mjs";
import { Stop, say } from "./lib/report.mjs";

if (!process.stderr.isTTY) process.env.NO_COLOR ??= "1";
try {
  await bootstrap();
  const [name] = process.argv.splice(2, 1); // what remains is the command's own
  await import(`./${name}.mjs`);
} catch (error) {
  const printed = error?.code?.startsWith?.("commander."); // a wrong command line: exit code 2; or its help: 0
  if (!printed) say(error instanceof Stop ? `stopped: ${error.message}` : String(error?.stack ?? error));
  process.exitCode = printed ? Math.min(error.exitCode, 1) * 2 : 1;
}
