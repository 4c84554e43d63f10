import node from "@astrojs/node";
import { defineConfig } from "astro/config";

export default defineConfig({
  output: "server",
  adapter: node({ mode: "standalone" }),
  // The hosts of your shop: Astro accepts forms only from its own pages, and must know their hosts.
  security: { allowedDomains: [{ hostname: "localhost" }, { hostname: "127.0.0.1" }] },
});
