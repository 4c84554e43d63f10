/** `npm run setup`: gets every tool that start, test and build need, and says which are used. */
import { ready } from "./lib/ready.mjs";

const tools = await ready({ browser: true, lint: true });
const rows = {
  node: `${process.version} (${process.execPath})`,
  cargo: `${tools.native.release} (${tools.native.cargo})`,
  "cargo for wasm32": `${tools.wasm.release} (${tools.wasm.cargo})`,
  "wasm-bindgen": tools.bindgen,
  chromium: tools.browser,
  chromedriver: tools.driver ?? "none: tests that need one are run by playwright",
  cache: tools.cache,
};
for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(17)} ${value}`);
