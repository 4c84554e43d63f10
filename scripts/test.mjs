/** `npm test [-- step…]`: every check of the project. */
import { globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { command } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { cargoTests, nodeTests, oneCheck, runSteps, sum, timesInWords } from "./lib/test-steps.mjs";

const SERVER = ["--features", "server"];
const FOR_WASM = ["--target", "wasm32-unknown-unknown"];
const DENY = ["--", "-D", "warnings"];
// Each file has its own ports, folders and KV; more than two at a time would run out of a small machine's memory.
const NODE_TESTS = [
  "--test",
  "--test-concurrency=2",
  "--test-reporter=spec",
  "--test-reporter-destination=stdout",
  `--test-reporter=${pathToFileURL(join(import.meta.dirname, "lib", "file-times.mjs"))}`,
  "--test-reporter-destination=stdout",
];

/**
 * @param {import("./lib/tools.mjs").Tools} tools
 * @returns {import("./lib/test-steps.mjs").Step[]} in the order they run
 */
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
  const script = (name, [file, ...args]) => ({
    name,
    command: [process.execPath, join(root, file), ...args],
    count: oneCheck,
  });
  const build = (name, part) => script(name, ["scripts/run.mjs", "build", part]);
  return [
    cargo("fmt", ["fmt", "--all", "--check"]),
    script("biome", [
      "node_modules/@biomejs/biome/bin/biome",
      "ci",
      "--colors=off",
      "--error-on-warnings",
      ".",
    ]),
    script("types", ["node_modules/typescript/bin/tsc", "-p", "pkg-templates"]),
    cargo("clippy-native", ["clippy", "--all-targets", "--all-features", ...DENY]),
    cargoWasm("clippy-wasm", ["clippy", "--all-features", ...DENY]), // the builds compile each feature alone
    cargoWasm("clippy-wasm-kv", ["clippy", ...SERVER, "--test", "kv", ...DENY]),
    cargo("native", ["test", "--all-features"], cargoTests),
    cargoWasm("kv", ["test", ...SERVER, "--test", "kv"], cargoTests),
    build("worker", "worker"),
    build("pkg", "package"),
    script("tsc", ["scripts/types.mjs"]), // the shop and the tests import what was built
    ...nodeFolders(root).map((folder) => ({
      name: basename(folder),
      command: [process.execPath, ...NODE_TESTS, `${folder}/*.test.mjs`],
      count: nodeTests,
    })),
  ];
}

/** Every folder with tests for Node, so that none is forgotten. */
const nodeFolders = (root) =>
  [
    ...new Set(
      globSync("{tests,proofs}/*/*.test.mjs", { cwd: root }).map((file) =>
        dirname(file).replaceAll("\\", "/"),
      ),
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
  const results = await runSteps(
    names.length === 0 ? steps : steps.filter((step) => names.some((name) => isNamed(step, name))),
    tools,
  );
  const { passed, failed } = sum(results);
  console.log(`${timesInWords(results)}\n\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
});
await program.parseAsync();
