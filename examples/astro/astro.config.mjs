import node from "@astrojs/node";
import { defineConfig } from "astro/config";

export default defineConfig({
  output: "server",
  adapter: node({ mode: "standalone" }),
  // The hosts of your shop: Astro takes forms only from pages of its own, and needs to know which these are.
  security: { allowedDomains: [{ hostname: "localhost" }, { hostname: "127.0.0.1" }] },
});
