/** `npm test [-- step…]`: every check of the project. */
import { readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { command } from "./lib/command.mjs";
import { ready } from "./lib/ready.mjs";
import { cargoTests, nodeTests, oneCheck, runSteps } from "./lib/steps.mjs";

const FEATURES = { none: [], client: ["--features", "client"], server: ["--features", "server"], all: ["--all-features"] };
const DENY = ["--", "-D", "warnings"];

/** @param {import("./lib/ready.mjs").Tools} tools @returns {import("./lib/steps.mjs").Step[]} in the order they run */
function allSteps({ root, native, wasm }) {
  const cargo = (...args) => ({ command: [native.cargo, ...args], env: native.env });
  const cargoWasm = (...args) => ({ command: [wasm.cargo, ...args], env: { ...wasm.env, NODE_PATH: join(root, "node_modules") } }); // a wasm test runs from a folder of its own
  const forWasm = ["--target", "wasm32-unknown-unknown"];
  const build = (part) => ({ command: [process.execPath, join("scripts", "run.mjs"), "build", part] });
  return [
    { name: "fmt", ...cargo("fmt", "--check"), count: oneCheck },
    ...lints("clippy", (features) => cargo("clippy", "--all-targets", ...features, ...DENY)),
    ...lints("clippy-wasm", (features) => cargoWasm("clippy", ...forWasm, ...features, ...DENY)),
    { name: "clippy-wasm-kv", ...cargoWasm("clippy", ...forWasm, ...FEATURES.server, "--test", "kv", ...DENY), count: oneCheck },
    { name: "native", ...cargo("test", "--all-features"), count: cargoTests },
    { name: "kv", ...cargoWasm("test", ...forWasm, ...FEATURES.server, "--test", "kv"), count: cargoTests },
    { name: "worker", ...build("worker"), count: oneCheck },
    { name: "pkg", ...build("package"), count: oneCheck },
    ...nodeFolders(root).map((folder) => ({
      name: relative("tests", folder).split(sep).join("-") || "node",
      command: [process.execPath, "--test", "--test-reporter=spec", `${folder}/*.test.mjs`],
      count: nodeTests,
    })),
  ];
}

const lints = (name, clippy) => Object.entries(FEATURES).map(([which, features]) => ({ name: `${name}-${which}`, ...clippy(features), count: oneCheck }));

/** Every folder of tests for Node, so that none is forgotten. */
function nodeFolders(root) {
  const files = readdirSync(join(root, "tests"), { recursive: true }).filter((file) => file.endsWith(".test.mjs"));
  return [...new Set(files.map((file) => join("tests", dirname(file))))].sort();
}

const program = command("npm test --", "Every check of the project.").argument("[steps...]", "names, or beginnings of names: `clippy`, `clippy-wasm`; none means all");

program.action(async (names) => {
  const tools = await ready({ browser: true, lint: true });
  const steps = allSteps(tools);
  const isNamed = (step, name) => step.name === name || step.name.startsWith(`${name}-`);
  const unknown = names.find((name) => !steps.some((step) => isNamed(step, name)));
  if (unknown !== undefined) program.error(`there is no step \`${unknown}\`; name one of: ${steps.map(({ name }) => name).join(", ")}`);
  const { passed, failed } = await runSteps(names.length === 0 ? steps : steps.filter((step) => names.some((name) => isNamed(step, name))), tools);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
});
await program.parseAsync();
