/** `node scripts/run.mjs COMMAND …` runs scripts/COMMAND.mjs once the npm packages and a new enough Node are there. */
import { bootstrap } from "./lib/bootstrap.mjs";
import { exitCodeOf, terminal } from "./lib/output.mjs";

if (!process.stderr.isTTY) process.env.NO_COLOR ??= "1";
process.stdout.on("error", (error) => {
  if (/** @type {any} */ (error).code !== "EPIPE") throw error; // else its reader has read enough
});
const to = terminal();
const work = async () => {
  await bootstrap();
  const [name] = process.argv.splice(2, 1); // what remains is the command's own
  const { default: program } = await import(`./${name}.mjs`);
  return program?.run(process.argv.slice(2), to); // one that exports nothing has run by now
};
const code = await exitCodeOf(work, process.argv, to);
const written = (stream) => new Promise((resolve) => stream.write("", resolve));
await Promise.all([process.stdout, process.stderr].map(written));
process.exit(code || process.exitCode); // else what can't be stopped, such as a runtime that hangs, would keep the process
