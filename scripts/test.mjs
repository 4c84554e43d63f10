/** `npm test [-- step…]`: every check of the project. A step may be named by its beginning: `clippy`, `clippy-wasm`. */
import { readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { ready } from "./lib/ready.mjs";
import { mustKnow, stop } from "./lib/report.mjs";
import { cargoTests, nodeTests, oneCheck, runSteps } from "./lib/steps.mjs";

const FEATURES = { none: [], client: ["--features", "client"], server: ["--features", "server"], all: ["--all-features"] };
const DENY = ["--", "-D", "warnings"];

/** @param {import("./lib/ready.mjs").Tools} tools @returns {import("./lib/steps.mjs").Step[]} in the order they run */
function allSteps(tools) {
  const { native, wasm } = tools;
  const cargo = (...args) => ({ command: [native.cargo, ...args], env: native.env });
  const cargoWasm = (...args) => ({ command: [wasm.cargo, ...args, "--target", "wasm32-unknown-unknown"], env: wasm.env });
  const node = (...args) => ({ command: [process.execPath, ...args] });
  return [
    { name: "fmt", ...cargo("fmt", "--check"), count: oneCheck },
    ...lints("clippy", (features) => cargo("clippy", "--all-targets", ...features, ...DENY)),
    ...lints("clippy-wasm", (features) => withDeny(cargoWasm("clippy", ...features))),
    { name: "clippy-wasm-kv", ...withDeny(cargoWasm("clippy", ...FEATURES.server, "--test", "kv")), count: oneCheck },
    { name: "native", ...cargo("test", "--all-features"), count: cargoTests },
    { name: "kv", ...withPackages(cargoWasm("test", ...FEATURES.server, "--test", "kv"), tools.root), count: cargoTests },
    { name: "worker", ...node("scripts/build.mjs", "worker"), count: oneCheck },
    { name: "pkg", ...node("scripts/build.mjs", "package"), count: oneCheck },
    ...nodeFolders(tools.root).map((folder) => ({
      name: relative("tests", folder).split(sep).join("-") || "node",
      ...node("--test", "--test-reporter=spec", `${folder}/*.test.mjs`),
      count: nodeTests,
    })),
  ];
}

const lints = (name, clippy) =>
  Object.entries(FEATURES).map(([which, features]) => ({ name: `${name}-${which}`, ...clippy(features), count: oneCheck }));

const withDeny = ({ command, env }) => ({ command: [...command, ...DENY], env });

/** What a wasm test requires by name is found here: it runs from a folder of its own. */
const withPackages = ({ command, env }, root) => ({ command, env: { ...env, NODE_PATH: join(root, "node_modules") } });

/** Every folder of tests for Node, so that none is forgotten. */
function nodeFolders(root) {
  const files = readdirSync(join(root, "tests"), { recursive: true }).filter((file) => file.endsWith(".test.mjs"));
  return [...new Set(files.map((file) => join("tests", dirname(file))))].sort();
}

/** @param {string[]} names */
function chosen(steps, names) {
  if (names.length === 0) return steps;
  const matches = (name) => steps.filter((step) => step.name === name || step.name.startsWith(`${name}-`));
  const unknown = names.filter((name) => matches(name).length === 0);
  mustKnow(unknown, steps.map(({ name }) => name));
  return steps.filter((step) => names.some((name) => matches(name).includes(step)));
}

try {
  const tools = await ready({ browser: true, lint: true });
  const { passed, failed } = await runSteps(chosen(allSteps(tools), process.argv.slice(2)), tools);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  stop(error);
}
