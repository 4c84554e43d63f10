/** `npm run build -- [part…]`: the Worker into build/, the npm package into pkg/, the operator's commands into build/operator/, the demo shop into build/www/. */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { Argument, command } from "./lib/command.mjs";
import { buildOperator } from "./lib/operator.mjs";
import { ready } from "./lib/ready.mjs";
import { Stop, say } from "./lib/report.mjs";
import { buildWasm } from "./lib/wasm.mjs";
import { buildPackage } from "./package.mjs";

const PARTS = { worker: buildWorker, package: buildPackage, operator: buildOperator, shop: buildShop };

async function buildWorker(tools) {
  const folder = join(tools.root, "build");
  // What is the same already is left alone: a watcher need not wake for nothing.
  const filter = (from, to) => statSync(from).isDirectory() || !existsSync(to) || !readFileSync(from).equals(readFileSync(to));
  cpSync(await buildWasm(tools, "impact_pledge"), folder, { recursive: true, filter });
  for (const name of ["worker.js", "recover.js"]) cpSync(join(tools.root, "src", "server", name), join(folder, name), { filter });
  const wasm = readFileSync(join(folder, "impact_pledge_bg.wasm"));
  const kilobytes = ({ length }) => `${(length / 1000).toFixed(1)} KB`;
  say(`build/impact_pledge_bg.wasm: ${kilobytes(wasm)}, ${kilobytes(gzipSync(wasm))} gzip`);
}

/** The shop uses the built package as any shop does: installed under its name in a node_modules folder, here a link to pkg/. */
async function buildShop({ root }) {
  const [pages, pkg, link] = [join(root, "www", "pages"), join(root, "pkg"), join(root, "www", "node_modules", "impact-pledge")];
  if (!existsSync(join(pkg, "package.json"))) throw new Stop("the shop needs the package in pkg/; run `npm run build` first");
  if (!existsSync(link)) {
    rmSync(link, { force: true }); // one that leads nowhere
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(pkg, link, "junction");
  }
  const copied = readdirSync(pages, { recursive: true }).filter((name) => /\.(css|html|svg)$/.test(name));
  const { build } = await import("esbuild");
  const places = { entryPoints: ["checkout.js", "developer.js", ...copied].map((name) => join(pages, name)), outbase: pages, outdir: join(root, "build", "www") };
  const loader = { ".css": "copy", ".html": "copy", ".svg": "copy" };
  await build({ ...places, loader, bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none", logLevel: "warning" });
}

await command("npm run build --", "The Worker into build/, the npm package into pkg/, the operator's commands into build/operator/, the demo shop into build/www/.")
  .addArgument(new Argument("[parts...]", "what to build; none means all").choices(Object.keys(PARTS)))
  .action(async (names) => {
    const tools = await ready();
    for (const name of names.length > 0 ? names : Object.keys(PARTS)) await PARTS[name](tools);
  })
  .parseAsync();
