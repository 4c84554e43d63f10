/** `npm test [-- step…]`: every check of the project. */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { command } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { cargoTests, nodeTests, oneCheck, runSteps } from "./lib/test-steps.mjs";

const FEATURES = {
  none: [],
  client: ["--features", "client"],
  server: ["--features", "server"],
  all: ["--all-features"],
};
const FOR_WASM = ["--target", "wasm32-unknown-unknown"];
const DENY = ["--", "-D", "warnings"];

/** @param {import("./lib/tools.mjs").Tools} tools @returns {import("./lib/test-steps.mjs").Step[]} in the order they run */
function allSteps({ root, native, wasm }) {
  const cargo = (name, args, count = oneCheck) => ({
    name,
    command: [native.cargo, ...args],
    env: native.env,
    count,
  });
  const cargoWasm = (name, [command, ...args], count = oneCheck) => ({
    name,
    command: [wasm.cargo, command, ...FOR_WASM, ...args],
    env: { ...wasm.env, NODE_PATH: join(root, "node_modules") },
    count,
  }); // a wasm test runs from a folder of its own
  const build = (name, part) => ({
    name,
    command: [process.execPath, join("scripts", "run.mjs"), "build", part],
    count: oneCheck,
  });
  return [
    cargo("fmt", ["fmt", "--check"]),
    ...Object.entries(FEATURES).map(([which, features]) =>
      cargo(`clippy-${which}`, ["clippy", "--all-targets", ...features, ...DENY]),
    ),
    ...Object.entries({ ...FEATURES, operator: ["--features", "operator"] }).map(
      ([which, features]) => cargoWasm(`clippy-wasm-${which}`, ["clippy", ...features, ...DENY]),
    ),
    cargoWasm("clippy-wasm-kv", ["clippy", ...FEATURES.server, "--test", "kv", ...DENY]),
    cargo("native", ["test", "--all-features"], cargoTests),
    cargoWasm("kv", ["test", ...FEATURES.server, "--test", "kv"], cargoTests),
    build("worker", "worker"),
    build("pkg", "package"),
    ...nodeFolders(join(root, "tests")).map((folder) => ({
      name: folder.replaceAll(/[/\\]/g, "-"),
      command: [process.execPath, "--test", "--test-reporter=spec", `tests/${folder}/*.test.mjs`],
      count: nodeTests,
    })),
  ];
}

/** Every folder of tests for Node, so that none is forgotten. */
const nodeFolders = (tests) =>
  [
    ...new Set(
      readdirSync(tests, { recursive: true })
        .filter((file) => file.endsWith(".test.mjs"))
        .map(dirname),
    ),
  ].sort();

const program = command("npm test --", "Every check of the project.").argument(
  "[steps...]",
  "names, or beginnings of names: `clippy`, `clippy-wasm`; none means all",
);
program.action(async (names) => {
  const tools = await prepareTools({ browser: true, lint: true });
  const steps = allSteps(tools);
  const isNamed = (step, name) => step.name === name || step.name.startsWith(`${name}-`);
  const unknown = names.find((name) => !steps.some((step) => isNamed(step, name)));
  if (unknown !== undefined)
    program.error(
      `there is no step \`${unknown}\`; name one of: ${steps.map(({ name }) => name).join(", ")}`,
    );
  const { passed, failed } = await runSteps(
    names.length === 0 ? steps : steps.filter((step) => names.some((name) => isNamed(step, name))),
    tools,
  );
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
});
await program.parseAsync();
