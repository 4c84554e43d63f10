/** `npm run prove [-- part…]`: runs the checks that take too long for `npm test`, one part after the other. */
import { join } from "node:path";
import { Argument, command } from "../../scripts/lib/command.mjs";
import { duration, log, table } from "../../scripts/lib/output.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { prepareTools } from "../../scripts/setup/tools.mjs";
import { PARTS } from "./parts.mjs";

const HELP = PARTS.map(({ name, about, minutes }) => [name, `${minutes} min`, about]);

const program = command(
  "npm run prove --",
  "Everything that takes too long for `npm test`, one part after the other; a part that fails does not stop the next.",
)
  .addArgument(new Argument("[parts...]", "none means all").choices(PARTS.map(({ name }) => name)))
  .addHelpText("after", `\n${table(["PART", "ABOUT", "FINDS"], HELP)}`);

program.action(async (names) => {
  const tools = await prepareTools({ browser: true });
  const script = join(tools.root, "scripts", "run.mjs");
  /** Runs a program, shows its output, and returns whether it succeeds. */
  const passes = (args, env = {}) =>
    run(process.execPath, args, {
      cwd: tools.root,
      env: { ...tools.env, ...env },
      show: true,
    }).then(
      () => true,
      () => false,
    );

  const chosen = PARTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const isBuilt = await passes([script, "build"]);
  const results = [];
  for (const [index, { name, about, minutes, program, tests, env }] of chosen.entries()) {
    log(`\n[${index + 1}/${chosen.length}] ${name}, about ${minutes} min: ${about}`);
    const started = Date.now();
    const args = program
      ? [script, `../tests/proofs/${program[0]}`, ...program.slice(1)]
      : ["--test", "--test-concurrency=2", ...(tests ?? [])];
    const isOk = isBuilt && (await passes(args, env));
    results.push({ name, isOk, time: duration(Date.now() - started) });
    log(
      `[${index + 1}/${chosen.length}] ${name}: ${isOk ? "passed" : "FAILED"} (${results.at(-1)?.time})`,
    );
  }
  const rows = results.map(({ name, isOk, time }) => [name, time, isOk ? "passed" : "FAILED"]);
  console.log(`\n${table(["PART", "TIME", "RESULT"], rows)}`);
  const failed = results.filter(({ isOk }) => !isOk).length;
  console.log(`\n${results.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
});
await program.parseAsync();
