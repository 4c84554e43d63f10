/** `npm run setup`: installs every tool that start, test and build need, and prints where each one is. */
import { prepareTools } from "./setup/tools.mjs";
import { table } from "./lib/output.mjs";

const { native, wasm, bindgen, browser, cache } = await prepareTools({
  browser: true,
  lint: true,
  tests: true,
});
const cargo = ({ release, cargo: path }) => `${release} (${path})`;
const rows = {
  node: `${process.version} (${process.execPath})`,
  cargo: cargo(native),
  "cargo for wasm32": cargo(wasm),
  "wasm-bindgen": bindgen,
  chromium: browser ?? "",
  cache,
};
console.log(table(["TOOL", "WHERE"], Object.entries(rows)));
