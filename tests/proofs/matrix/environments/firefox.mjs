/**
 * Tests the package in Firefox: pages load it as in Chromium, and a shopper uses a form with JavaScript and
 * without.
 */
import { NO_FIREFOX } from "../lib/browser.mjs";
import { ROWS, ofRow } from "./rows.mjs";
import { IN_FIREFOX, startFrontEnd } from "./recipes.mjs";

const loaded = ROWS.filter(({ name }) => ["page", "vite-build"].includes(name)).map((row) => {
  const name = `firefox-${row.name}`;
  return ofRow({ ...row, name, shows: row.name === "page" ? `/${name}/` : row.shows });
});

const walked = Object.entries(IN_FIREFOX).map(([name, walk]) => ({
  name: `firefox-${name}`,
  run: async (workspace) => walk(workspace, await startFrontEnd(workspace, "plain-html")),
}));

/** @type {import("../main.mjs").Environment[]} */
export const environments = [...loaded, ...walked].map((environment) => ({
  ...environment,
  browser: "firefox",
  version: (workspace) => workspace.browserVersion(),
  mayBeMissing: NO_FIREFOX,
}));
