/** `npm test [-- step…]`: runs every check that a change needs. `npm run prove` runs the checks that take long. */
import { command } from "./lib/command.mjs";
import { duration } from "./lib/output.mjs";
import { prepareTools } from "./setup/tools.mjs";
import { runTasks, sum, timesInWords } from "./lib/test-steps.mjs";
import { allTasks } from "./lib/test-tasks.mjs";

const program = command("npm test --", "Runs every check that a change needs.").argument(
  "[steps...]",
  "steps to run: names, or beginnings of names, such as `clippy`, `clippy-wasm` or `tests/browser/shop` (default: all)",
);
program.action(async (names) => {
  const started = Date.now();
  const tools = await prepareTools({ browser: true, lint: true, tests: true });
  const tasks = allTasks(tools);
  const isNamed = ({ step, name }, wanted) =>
    step === wanted || step.startsWith(`${wanted}-`) || name.startsWith(`${wanted}.`);
  const unknown = names.find((name) => !tasks.some((task) => isNamed(task, name)));
  if (unknown !== undefined)
    program.error(
      `there is no step \`${unknown}\`; name one of: ${[...new Set(tasks.map(({ step }) => step))].join(", ")}`,
    );
  const results = await runTasks(
    names.length === 0 ? tasks : tasks.filter((task) => names.some((name) => isNamed(task, name))),
    tools,
  );
  const { passed, failed } = sum(results);
  console.log(timesInWords(results));
  if (names.length === 0) console.log(`\n${duration(Date.now() - started)} in total`);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
});
await program.parseAsync();
