/** Bundlers: what they make must run in a page that forbids eval, and where they can, in Node. */
const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title><script type="module" src="./SCRIPT"></script></head><body></body></html>
`;

const html = (script) => HTML.replace("SCRIPT", script);

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  {
    name: "vite-dev",
    version: (workspace) => workspace.version("vite"),
    async run(workspace) {
      workspace.copy();
      workspace.write("index.html", html("page.mjs"));
      const origin = await workspace.start((port) => [
        workspace.tool("vite", "bin", "vite.js"),
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
        "--strictPort",
      ]);
      await workspace.mustShow(`${origin}/`);
    },
  },
  {
    name: "vite-build",
    version: (workspace) => workspace.version("vite"),
    async run(workspace) {
      workspace.copy();
      workspace.write("index.html", html("page.mjs"));
      await workspace.node(workspace.tool("vite", "bin", "vite.js"), "build");
      await workspace.mustShow(`${await workspace.serve("dist")}/`);
    },
  },
  {
    name: "webpack",
    version: (workspace) => workspace.version("webpack"),
    run: (workspace) =>
      bundle(workspace, {
        page: [
          workspace.tool("webpack-cli", "bin", "cli.js"),
          "./page.mjs",
          "--mode",
          "production",
          "--output-path",
          "dist",
          "--output-filename",
          "page.js",
        ],
        node: [
          workspace.tool("webpack-cli", "bin", "cli.js"),
          "./console.mjs",
          "--mode",
          "production",
          "--target",
          "node",
          "--output-path",
          "dist",
          "--output-filename",
          "console.cjs",
        ],
      }),
  },
  {
    name: "esbuild",
    version: (workspace) => workspace.version("esbuild"),
    run: (workspace) =>
      bundle(workspace, {
        page: [
          workspace.tool("esbuild", "bin", "esbuild"),
          "page.mjs",
          "--bundle",
          "--minify",
          "--format=esm",
          "--outfile=dist/page.js",
        ],
        node: [
          workspace.tool("esbuild", "bin", "esbuild"),
          "console.cjs",
          "--bundle",
          "--minify",
          "--platform=node",
          "--outfile=dist/console.cjs",
        ],
      }),
  },
  {
    name: "rollup",
    version: (workspace) => workspace.version("rollup"),
    run: (workspace) =>
      bundle(workspace, {
        page: [
          workspace.tool("rollup", "dist", "bin", "rollup"),
          "page.mjs",
          "--plugin",
          "node-resolve",
          "--format",
          "es",
          "--file",
          "dist/page.js",
        ],
        node: [
          workspace.tool("rollup", "dist", "bin", "rollup"),
          "console.mjs",
          "--plugin",
          "node-resolve",
          "--format",
          "es",
          "--file",
          "dist/console.mjs",
        ],
      }),
  },
];

async function bundle(workspace, { page, node }) {
  workspace.copy();
  await workspace.node(...page);
  await workspace.node(...node);
  workspace.write("dist/index.html", html("page.js"));
  await workspace.mustShow(`${await workspace.serve("dist")}/`);
  await workspace.mustPrint(
    process.execPath,
    `dist/${node.at(-1).includes(".mjs") ? "console.mjs" : "console.cjs"}`,
  );
}
