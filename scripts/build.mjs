/** `npm run build -- [part…]`: the Worker into build/, the npm package into pkg/, the demo shop into build/www/. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { Argument, command } from "./lib/command.mjs";
import { copyChanged } from "./lib/folder.mjs";
import { ready } from "./lib/ready.mjs";
import { Stop, say } from "./lib/report.mjs";
import { buildWasm } from "./lib/wasm.mjs";
import { buildPackage } from "./package.mjs";

const PARTS = { worker: buildWorker, package: buildPackage, shop: buildShop };

async function buildWorker(tools) {
  const folder = join(tools.root, "build");
  const isNew = copyChanged(await buildWasm(tools, "impact_pledge"), folder);
  for (const name of ["worker.js", "recover.js"]) copyChanged(join(tools.root, "src", "server", name), join(folder, name));
  const wasm = readFileSync(join(folder, "impact_pledge_bg.wasm"));
  const kilobytes = ({ length }) => `${(length / 1000).toFixed(1)} KB`;
  say(`build/impact_pledge_bg.wasm: ${isNew ? `${kilobytes(wasm)}, ${kilobytes(brotliCompressSync(wasm))} brotli` : "unchanged"}`);
}

/** The shop uses the built package as any shop does: installed under its name in a node_modules folder, here a link to pkg/. */
async function buildShop({ root }) {
  const pages = join(root, "www", "pages");
  link(join(root, "pkg"), join(root, "www", "node_modules", "impact-pledge"));
  const files = readdirSync(pages, { recursive: true }).filter((name) => /\.(css|html|svg)$/.test(name));
  const { build } = await import("esbuild");
  await build({
    entryPoints: ["checkout.js", "developer.js", ...files].map((name) => join(pages, name)),
    outbase: pages,
    outdir: join(root, "build", "www"),
    loader: { ".css": "copy", ".html": "copy", ".svg": "copy" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
}

function link(target, place) {
  if (!existsSync(join(target, "package.json"))) throw new Stop("the shop needs the package in pkg/; run `npm run build` first");
  if (existsSync(place)) return;
  rmSync(place, { force: true }); // a link that leads nowhere
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(target, place, "junction");
}

await command("npm run build --", "The Worker into build/, the npm package into pkg/, the demo shop into build/www/.")
  .addArgument(new Argument("[parts...]", "what to build; none means all").choices(Object.keys(PARTS)))
  .action(async (names) => {
    const tools = await ready();
    for (const name of names.length > 0 ? names : Object.keys(PARTS)) await PARTS[name](tools);
  })
  .parseAsync();
