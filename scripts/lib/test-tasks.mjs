/** The steps of `npm test`. */
import { globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { cargoTests, nodeTests, oneCheck } from "./test-steps.mjs";

const SERVER = ["--features", "server"];
const FOR_WASM = ["--target", "wasm32-unknown-unknown"];
const DENY = ["--", "-D", "warnings"];

/**
 * Returns the tasks in the order in which they start: first the builds, which most tests wait for, then all that holds
 * a folder, and then the files of tests, the longest first.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @returns {import("./test-steps.mjs").Task[]}
 */
export function allTasks({ root, native, wasm }) {
  const task = (name, command, more = {}) => ({
    step: name,
    name,
    command,
    count: oneCheck,
    ...more,
  });
  const script = (name, [file, ...args], more) =>
    task(name, [process.execPath, join(root, file), ...args], more);
  // Two processes of cargo that share a target folder and a profile would wait for each other.
  const build = (name, ...parts) =>
    script(name, ["scripts/run.mjs", "build", ...parts], { holds: "wasm, release" });
  const cargo = (name, args, more) =>
    task(name, [native.cargo, ...args], { env: native.env, holds: "native", ...more });
  const cargoWasm = (name, [command, ...args], more) =>
    task(name, [wasm.cargo, command, ...FOR_WASM, ...args], {
      env: { ...wasm.env, NODE_PATH: join(root, "node_modules") }, // a wasm test runs from a folder of its own
      holds: "wasm, debug",
      ...more,
    });
  return [
    build("worker", "worker"),
    cargo("native", ["test", "--all-features"], { count: cargoTests }),
    build("pkg", "package"),
    build("dashboard", "dashboard", "operator"),
    cargo("clippy-native", ["clippy", "--all-targets", "--all-features", ...DENY]),
    cargo("fmt", ["fmt", "--all", "--check"]),
    script("biome", [
      "node_modules/@biomejs/biome/bin/biome",
      "ci",
      "--colors=off",
      "--error-on-warnings",
      ".",
    ]),
    script("types", ["node_modules/typescript/bin/tsc", "-p", "pkg-templates"]),
    // The builds compile each feature alone, and without the features that only the tests' dependencies enable.
    cargoWasm("clippy-wasm", ["clippy", "--all-features", "--lib", "--test", "kv", ...DENY]),
    cargoWasm("kv", ["test", ...SERVER, "--test", "kv"], { count: cargoTests }),
    ...nodeTasks(root),
    script("tsc", ["scripts/types.mjs"], { needs: ["worker", "pkg", "dashboard"] }), // the shop and the tests import the builds
  ];
}

const LONGEST_FIRST = ["e2e", "browser", "package"];
const BUILDS = ["worker", "pkg", "dashboard"];
/** The builds that the files of a step use, if these are not all. So they run while the last builds are compiled. */
const OWN_BUILDS = { package: ["worker", "pkg"] };

/**
 * Returns a task for each test file for Node. The files are found by their names, so that none is forgotten. A file's
 * folder is its step.
 */
function nodeTasks(root) {
  const rank = ({ step }) =>
    LONGEST_FIRST.includes(step) ? LONGEST_FIRST.indexOf(step) : LONGEST_FIRST.length;
  return globSync("tests/{,proofs/}*/*.test.mjs", { cwd: root })
    .map((file) => ({
      step: basename(dirname(file)),
      name: file.replaceAll("\\", "/"),
      command: [process.execPath, "--test-reporter=spec", join(root, file)],
      count: nodeTests,
      needs: OWN_BUILDS[basename(dirname(file))] ?? BUILDS,
    }))
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
