/**
 * Next.js with either of its bundlers, on Node and at the edge; and Cloudflare's workerd, bundled
 * by wrangler and by Vite.
 */
const next = (bundler) => ({
  name: `next-${bundler}`,
  version: (workspace) => workspace.version("next"),
  async run(workspace) {
    workspace.copy("next");
    const bin = workspace.tool("next", "dist", "bin", "next");
    await workspace.node(bin, "build", `--${bundler}`);
    const origin = await workspace.start((port) => [
      bin,
      "start",
      "--hostname",
      "127.0.0.1",
      "--port",
      String(port),
    ]);
    for (const runtime of ["node", "edge"]) await workspace.mustAnswer(`${origin}/api/${runtime}`);
    await workspace.mustShow(`${origin}/`);
  },
});

const VITE_CONFIG = `import { cloudflare } from "@cloudflare/vite-plugin";
export default { plugins: [cloudflare({ inspectorPort: false })] };
`;

/**
 * A Worker of Vite's.
 * @param {string} command that serves it
 * @param {string[]} [before] one that must run first
 */
const viteWorker = (name, command, before = []) => ({
  name: `workerd-vite-${name}`,
  version: (workspace) => workspace.version("@cloudflare/vite-plugin"),
  async run(workspace) {
    workspace.copy("worker");
    workspace.write("vite.config.mjs", VITE_CONFIG);
    const bin = workspace.tool("vite", "bin", "vite.js");
    for (const each of before) await workspace.node(bin, each);
    const origin = await workspace.start((port) => [
      bin,
      command,
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--strictPort",
    ]);
    await workspace.mustAnswer(`${origin}/`);
  },
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  next("turbopack"),
  next("webpack"),
  {
    name: "workerd",
    version: (workspace) => `${workspace.version("workerd")}`,
    async run(workspace) {
      workspace.copy("worker");
      const bin = workspace.tool("wrangler", "bin", "wrangler.js");
      const origin = await workspace.start((port) => [
        bin,
        "dev",
        "--ip",
        "127.0.0.1",
        "--port",
        String(port),
        "--inspector-port",
        "0",
        "--show-interactive-dev-session=false",
      ]);
      await workspace.mustAnswer(`${origin}/`);
    },
  },
  viteWorker("dev", "dev"),
  viteWorker("build", "preview", ["build"]),
];
