/** Next.js with either of its bundlers, on Node and at the edge; and Cloudflare's workerd, bundled by wrangler and by Vite. */
const next = (bundler) => ({
  name: `next-${bundler}`,
  version: (place) => place.version("next"),
  async run(place) {
    place.copy("next");
    const bin = place.tool("next", "dist", "bin", "next");
    await place.node(bin, "build", `--${bundler}`);
    const origin = await place.start((port) => [
      bin,
      "start",
      "--hostname",
      "127.0.0.1",
      "--port",
      String(port),
    ]);
    for (const runtime of ["node", "edge"]) await place.mustAnswer(`${origin}/api/${runtime}`);
    await place.mustShow(`${origin}/`);
  },
});

const VITE_CONFIG = `import { cloudflare } from "@cloudflare/vite-plugin";
export default { plugins: [cloudflare({ inspectorPort: false })] };
`;

/** A Worker of Vite's. @param {string} command that serves it @param {string[]} [before] one that must run first */
const viteWorker = (name, command, before = []) => ({
  name: `workerd-vite-${name}`,
  version: (place) => place.version("@cloudflare/vite-plugin"),
  async run(place) {
    place.copy("worker");
    place.write("vite.config.mjs", VITE_CONFIG);
    const bin = place.tool("vite", "bin", "vite.js");
    for (const each of before) await place.node(bin, each);
    const origin = await place.start((port) => [
      bin,
      command,
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--strictPort",
    ]);
    await place.mustAnswer(`${origin}/`);
  },
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  next("turbopack"),
  next("webpack"),
  {
    name: "workerd",
    version: (place) => `${place.version("workerd")}`,
    async run(place) {
      place.copy("worker");
      const bin = place.tool("wrangler", "bin", "wrangler.js");
      const origin = await place.start((port) => [
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
      await place.mustAnswer(`${origin}/`);
    },
  },
  viteWorker("dev", "dev"),
  viteWorker("build", "preview", ["build"]),
];
