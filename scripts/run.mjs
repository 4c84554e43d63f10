/** `node scripts/run.mjs COMMAND …` runs scripts/COMMAND.mjs once the npm packages and a new enough Node are there. */
import { bootstrap } from "./lib/bootstrap.mjs";
import { UserError, placeInWords, log } from "./lib/output.mjs";

/** `usage`: the command line is wrong, and nothing was done. */
const failure = ({ message, place, data }, isUsage) => ({
  place,
  ...data,
  error: {
    code: isUsage ? "usage" : "failed",
    message: message
      .replace(/^error: /, "")
      .trim()
      .replaceAll("\n", " "),
  },
});

if (!process.stderr.isTTY) process.env.NO_COLOR ??= "1";
const forPrograms = process.argv.includes("--json");
try {
  await bootstrap();
  const [name] = process.argv.splice(2, 1); // what remains is the command's own
  await import(`./${name}.mjs`);
} catch (error) {
  const printed = error?.code?.startsWith?.("commander."); // a wrong command line: exit code 2; or its help: 0
  const where = error?.place ? ` (${placeInWords(error.place)})` : "";
  if (!printed)
    log(
      error instanceof UserError
        ? `stopped: ${error.message}${where}`
        : String(error?.stack ?? error),
    );
  process.exitCode = printed ? Math.min(error.exitCode, 1) * 2 : 1;
  if (forPrograms && process.exitCode !== 0) console.log(JSON.stringify(failure(error, printed)));
}
