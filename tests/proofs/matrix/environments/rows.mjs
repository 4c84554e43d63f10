/** The environments that need no code of their own: pages, bundlers, frameworks, Workers and test runners. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { created } from "../../../package/mock-server.mjs";
import { EXPECTED_FORM } from "../shared/smoke.mjs";

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} [tool] the package whose version is printed; without it, the browser's version is printed
 * @property {string} [project] a folder in `projects`, whose files are copied beside those of `shared`
 * @property {Record<string, string>} [files] further files, by their names
 * @property {string[]} [run] commands, see `Workspace.node`
 * @property {RegExp} [says] what the last command must print
 * @property {string[]} [prints] built programs for Node, which must print the expected results
 * @property {string} [server] the command that starts a server
 * @property {string} [site] a folder of files to serve, in place of `server`
 * @property {string} [policy] the Content-Security-Policy of the folder `site`; default: one that allows wasm
 * @property {string[]} [answers] paths that must answer with the expected results
 * @property {string} [shows] the path of a page that must find the expected results
 * @property {unknown} [finds] the results that the page in `shows` must find; default: all expected results
 */

const VITE = "vite/bin/vite.js";
const WEBPACK = "webpack-cli/bin/cli.js --mode production --output-path dist";
const ESBUILD = "esbuild/bin/esbuild --bundle --minify";
const ROLLUP = "rollup/dist/bin/rollup --plugin node-resolve";
const NEXT = "next/dist/bin/next";
const WRANGLER =
  "wrangler/bin/wrangler.js dev --inspector-port 0 --show-interactive-dev-session=false";

const html = (script) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title><script type="module" src="./${script}"></script></head><body></body></html>
`;

/**
 * Returns the entries' module with paths in place of package names. An import map would be an inline script,
 * which the policy forbids.
 */
const entriesByPath = () =>
  readFileSync(join(import.meta.dirname, "..", "shared", "entries.mjs"), "utf8").replaceAll(
    /"impact-pledge(\/[a-z]+)?"/g,
    (_, entry = "/index") => `"/node_modules/impact-pledge${entry}.js"`,
  );

const bundled = { files: { "dist/index.html": html("page.js") }, site: "dist", shows: "/" };

/**
 * Returns the environment of a page that has only a form, under a policy that forbids WebAssembly. Its bundle
 * is a classic script, not a module, and may have several files.
 */
const strict = (name, tool, ...run) => ({
  name,
  tool,
  run,
  files: { "dist/index.html": html("page.js").replace('type="module"', "defer") },
  site: "dist",
  policy: "script-src 'self'",
  shows: "/",
  finds: EXPECTED_FORM,
});

const next = (bundler) => ({
  name: `next-${bundler}`,
  tool: "next",
  project: "next",
  run: [`${NEXT} build --${bundler}`],
  server: `${NEXT} start --hostname 127.0.0.1 --port PORT`,
  answers: ["/api/node", "/api/edge"],
  shows: "/",
});

const workerByVite = {
  tool: "@cloudflare/vite-plugin",
  project: "worker",
  files: {
    "vite.config.mjs":
      'import { cloudflare } from "@cloudflare/vite-plugin";\nexport default { plugins: [cloudflare({ inspectorPort: false })] };\n',
  },
  answers: ["/"],
};

const jest = (name, environment, spec, flags = "") => ({
  name: `jest-${name}`,
  tool: "jest",
  project: "jest",
  files: {
    "answer.json": JSON.stringify(created()),
    "jest.config.json": JSON.stringify({
      testEnvironment: environment,
      testMatch: [`**/smoke.spec.${spec}`],
      moduleFileExtensions: ["js", "cjs", "mjs", "json"],
      transform: {},
      watchman: false,
    }),
  },
  run: [`${flags}jest/bin/jest.js --ci --runInBand`],
});

const vitest = (name, environment, pool) => ({
  name: `vitest-${name}`,
  tool: "vitest",
  project: "vitest",
  run: [`vitest/vitest.mjs run --environment ${environment} --pool ${pool}`],
  says: environment === "node" ? /1 passed/ : /2 passed/,
});

/** @type {Row[]} */
export const ROWS = [
  {
    name: "page",
    files: { "index.html": html("page.mjs"), "entries.mjs": entriesByPath() },
    site: "..",
    shows: "/page/",
  },
  {
    name: "vite-dev",
    tool: "vite",
    files: { "index.html": html("page.mjs") },
    server: `${VITE} --host 127.0.0.1 --port PORT --strictPort`,
    shows: "/",
  },
  {
    name: "vite-build",
    tool: "vite",
    files: { "index.html": html("page.mjs") },
    run: [`${VITE} build`],
    site: "dist",
    shows: "/",
  },
  {
    name: "webpack",
    tool: "webpack",
    run: [
      `${WEBPACK} ./page.mjs --output-filename page.js`,
      `${WEBPACK} ./console.mjs --target node --output-filename console.cjs`,
    ],
    prints: ["dist/console.cjs"],
    ...bundled,
  },
  {
    name: "esbuild",
    tool: "esbuild",
    run: [
      `${ESBUILD} page.mjs --format=esm --outfile=dist/page.js`,
      `${ESBUILD} console.cjs --platform=node --outfile=dist/console.cjs`,
    ],
    prints: ["dist/console.cjs"],
    ...bundled,
  },
  {
    name: "rollup",
    tool: "rollup",
    run: [
      `${ROLLUP} page.mjs --dir dist`,
      `${ROLLUP} console.mjs --file dist/console.mjs --inlineDynamicImports`,
    ],
    prints: ["dist/console.mjs"],
    ...bundled,
  },
  strict("webpack-strict", "webpack", `${WEBPACK} ./form-page.mjs --output-filename page.js`),
  strict(
    "esbuild-iife",
    "esbuild",
    `${ESBUILD} form-page.mjs --format=iife --outfile=dist/page.js`,
  ),
  strict(
    "rollup-iife",
    "rollup",
    `${ROLLUP} form-page.mjs --format iife --file dist/page.js --inlineDynamicImports`,
  ),
  {
    ...strict("vite-strict", "vite", `${VITE} build`),
    files: { "index.html": html("form-page.mjs") },
  },
  next("turbopack"),
  next("webpack"),
  {
    name: "workerd",
    tool: "workerd",
    project: "worker",
    server: `${WRANGLER} --ip 127.0.0.1 --port PORT`,
    answers: ["/"],
  },
  {
    ...workerByVite,
    name: "workerd-vite-dev",
    server: `${VITE} dev --host 127.0.0.1 --port PORT --strictPort`,
  },
  {
    ...workerByVite,
    name: "workerd-vite-build",
    run: [`${VITE} build`],
    server: `${VITE} preview --host 127.0.0.1 --port PORT --strictPort`,
  },
  jest("node", "node", "cjs"),
  jest("node-esm", "node", "mjs", "--experimental-vm-modules "),
  jest("jsdom", "jsdom", "cjs"),
  jest("jsdom-esm", "jsdom", "mjs", "--experimental-vm-modules "),
  vitest("node", "node", "forks"),
  vitest("jsdom", "jsdom", "forks"),
  vitest("jsdom-vm", "jsdom", "vmThreads"),
  vitest("happy-dom", "happy-dom", "forks"),
];

/** @param {Row} row @returns {import("../main.mjs").Environment} */
export const ofRow = (row) => ({
  name: row.name,
  version: (workspace) => (row.tool ? workspace.version(row.tool) : workspace.browserVersion()),
  async run(workspace) {
    const { project, files = {}, run = [], prints = [] } = row;
    workspace.copy(project);
    for (const [name, text] of Object.entries(files)) workspace.write(name, text);
    let printed = "";
    for (const command of run) printed = await workspace.node(command);
    if (row.says) assert.match(printed, row.says);
    for (const program of prints) await workspace.mustPrint(process.execPath, program);
    if (row.server) await visit(workspace, await workspace.start(row.server), row);
    if (row.site) await visit(workspace, await workspace.serve(row.site, row.policy), row);
  },
});

/** @param {import("../lib/workspace.mjs").Workspace} workspace @param {string} origin @param {Row} row */
async function visit(workspace, origin, { answers = [], shows, finds }) {
  for (const path of answers) await workspace.mustAnswer(origin + path);
  if (shows) await workspace.mustShow(origin + shows, finds);
}

export const environments = ROWS.map(ofRow);
