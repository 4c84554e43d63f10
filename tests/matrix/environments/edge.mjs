/** Next.js with either of its bundlers, on Node and at the edge; and Cloudflare's workerd. */
const next = (bundler) => ({
  name: `next-${bundler}`,
  version: (place) => place.version("next"),
  async run(place) {
    place.copy("next");
    const bin = place.tool("next", "dist", "bin", "next");
    await place.node(bin, "build", `--${bundler}`);
    const origin = await place.start((port) => [bin, "start", "--hostname", "127.0.0.1", "--port", String(port)]);
    for (const runtime of ["node", "edge"]) await place.mustAnswer(`${origin}/api/${runtime}`);
    await place.mustShow(`${origin}/`);
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
      const origin = await place.start((port) => [bin, "dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0", "--show-interactive-dev-session=false"]);
      await place.mustAnswer(`${origin}/`);
    },
  },
];
