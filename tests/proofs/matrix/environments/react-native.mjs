/**
 * Tests the rules and forms in Hermes, React Native's JavaScript engine, which has no WebAssembly. Runs every
 * case of the shared test table.
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ask } from "../../../../scripts/lib/run.mjs";
import { rowsScript } from "../../../support/rows.mjs";
import { Skipped } from "../lib/browser.mjs";
import { packagesIn } from "../lib/install.mjs";

/**
 * The packages to install: Hermes as a program, and the tools with which React Native compiles code for it.
 * The newest Hermes program on npm is from 2022. Later versions of Hermes have more features.
 */
const PACKAGES = [
  "hermes-engine-cli@0.12.0",
  "@react-native/babel-preset@0.88.1",
  "@babel/core@7.29.13",
];
const PROGRAMS = {
  linux: "linux64-bin/hermes",
  darwin: "osx-bin/hermes",
  win32: "win64-bin/hermes.exe",
};
const PRESET = { disableImportExportTransform: true, enableBabelRuntime: false };

/**
 * Installs Hermes in a separate folder of the shared cache. Hermes is larger than most tools of the matrix,
 * and users of the package do not need it.
 */
async function hermes({ cache, env }) {
  const packages = await packagesIn(join(cache, PACKAGES[0]), ...PACKAGES);
  const program = join(packages, "hermes-engine-cli", PROGRAMS[process.platform] ?? "none");
  const version = ask(program, ["--version"], { env })?.match(/release version: ([\d.]+)/)?.[1];
  if (!version) throw new Skipped("Hermes does not start here");
  return { program, version, require: createRequire(join(packages, "index.js")) };
}

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  {
    name: "react-native",
    mayBeMissing: "npm has Hermes for x64 alone",
    version: async ({ tools }) => `hermes ${(await hermes(tools)).version}`,
    async run(workspace) {
      const { program, require } = await hermes(workspace.tools);
      const script = await rowsScript(
        workspace.folder,
        { validate: "impact-pledge/validate", form: "impact-pledge/form", report: "print" },
        { conditions: ["react-native"] },
      );
      const { code } = await require("@babel/core").transformAsync(script, {
        presets: [[require("@react-native/babel-preset"), PRESET]],
        configFile: false,
        compact: false,
        sourceType: "script",
        filename: join(workspace.folder, "rows.js"),
      });
      workspace.write("rows.js", code);
      const { wrong, count } = JSON.parse(await workspace.run(program, "rows.js"));
      assert.deepEqual(wrong, []);
      const isWhole = count.bytes > 900 && count.values > 1_800 && count.forms > 50;
      assert.ok(isWhole, JSON.stringify(count));
    },
  },
];
