/** `npm run build -- [part…]`: the Worker into build/, the dashboard into build/dashboard/, the npm package into pkg/, the operator's commands into build/operator/, the demo shop into build/www/. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Argument, command } from "./lib/command.mjs";
import { buildOperator } from "./lib/operator.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError } from "./lib/output.mjs";
import { buildPackage } from "./package.mjs";
import { buildDashboard, buildWorker } from "./worker.mjs";

const PARTS = {
  worker: buildWorker,
  dashboard: buildDashboard,
  package: buildPackage,
  operator: buildOperator,
  shop: buildShop,
};

/**
 * Bundles the pages of the shop, which imports the package from a node_modules folder, as any shop
 * does.
 */
async function buildShop({ root }) {
  linkPackage(root);
  const pages = join(root, "www", "pages");
  const others = readdirSync(pages, { encoding: "utf8", recursive: true }).filter((name) =>
    /\.(css|html|svg)$/.test(name),
  );
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: ["checkout.js", "developer.js", "product.js", ...others].map((name) =>
      join(pages, name),
    ),
    outbase: pages,
    outdir: join(root, "build", "www"),
    loader: { ".css": "copy", ".html": "copy", ".svg": "copy" },
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
  for (const { path, contents } of outputFiles) {
    // Unchanged files are not written again, because a watcher or a running shop may be reading them.
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}

/** Puts a link to pkg/ where an installed package would be. */
function linkPackage(root) {
  const pkg = join(root, "pkg");
  const link = join(root, "www", "node_modules", "impact-pledge");
  if (!existsSync(join(pkg, "package.json")))
    throw new UserError("the shop needs the package in pkg/; run `npm run build` first");
  if (existsSync(link)) return;
  rmSync(link, { force: true }); // one that leads nowhere
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(pkg, link, "junction");
}

await command(
  "npm run build --",
  "The Worker into build/, the dashboard into build/dashboard/, the npm package into pkg/, the operator's commands into build/operator/, the demo shop into build/www/.",
)
  .addArgument(
    new Argument("[parts...]", "what to build; none means all").choices(Object.keys(PARTS)),
  )
  .action(async (names) => {
    const tools = await prepareTools();
    for (const name of names.length > 0 ? names : Object.keys(PARTS)) await PARTS[name](tools);
  })
  .parseAsync();
