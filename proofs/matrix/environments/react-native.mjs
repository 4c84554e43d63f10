/**
 * Hermes, the engine of React Native, which has no WebAssembly: every row of the rules and of
 * forms.
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { entry } from "../../../scripts/lib/cache.mjs";
import { ask, npm } from "../../../scripts/lib/run.mjs";
import { rowsScript } from "../../../tests/support/rows.mjs";
import { Skipped } from "../lib/skipped.mjs";

/**
 * The last Hermes that npm has as a program, of 2022: it has less than any that came later. And how
 * React Native compiles for it.
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

/**
 * Outside of the matrix's own packages: it is larger than most of them, and is no tool of anybody
 * who uses the package.
 */
async function hermes({ cache, env }) {
  const install = (fresh) =>
    npm(["install", "--prefix", fresh, "--ignore-scripts", "--loglevel=error", ...PACKAGES], {
      cwd: fresh,
    });
  const folder = await entry(join(cache, PACKAGES[0]), install).catch(({ message }) => {
    throw new Skipped(message);
  });
  const program = join(
    folder,
    "node_modules",
    "hermes-engine-cli",
    PROGRAMS[process.platform] ?? "none",
  );
  const version = ask(program, ["--version"], { env })?.match(/release version: ([\d.]+)/)?.[1];
  if (!version) throw new Skipped("Hermes does not start here");
  return { program, version, require: createRequire(join(folder, "index.js")) };
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
      const presets = [
        [
          require("@react-native/babel-preset"),
          { disableImportExportTransform: true, enableBabelRuntime: false },
        ],
      ];
      const { code } = await require("@babel/core").transformAsync(script, {
        presets,
        babelrc: false,
        configFile: false,
        compact: false,
        sourceType: "script",
        filename: join(workspace.folder, "rows.js"),
      });
      workspace.write("rows.js", code);
      const { wrong, count } = JSON.parse(await workspace.run(program, "rows.js"));
      assert.deepEqual(wrong, []);
      assert.ok(
        count.bytes > 900 && count.values > 1_800 && count.forms > 50,
        JSON.stringify(count),
      );
    },
  },
];
