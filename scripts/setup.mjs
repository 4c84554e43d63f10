/** `npm run setup`: gets every tool that start, test and build need, and prints which are used. */
import { ready } from "./lib/ready.mjs";

const { native, wasm, bindgen, browser, cache } = await ready({ browser: true, lint: true });
const rows = {
  node: `${process.version} (${process.execPath})`,
  cargo: `${native.release} (${native.cargo})`,
  "cargo for wasm32": `${wasm.release} (${wasm.cargo})`,
  "wasm-bindgen": bindgen,
  chromium: browser,
  cache,
};
for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(17)} ${value}`);
