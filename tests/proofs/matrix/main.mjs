/**
 * Tests the environments one after the other, each in a fresh folder in which the packed package is installed.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { duration, log } from "../../../scripts/lib/output.mjs";
import { environments as adapters } from "./environments/adapters.mjs";
import { environments as components } from "./environments/components.mjs";
import { environments as firefox } from "./environments/firefox.mjs";
import { environments as reactNative } from "./environments/react-native.mjs";
import { environments as recipes } from "./environments/recipes.mjs";
import { environments as rows } from "./environments/rows.mjs";
import { environments as runtimes } from "./environments/runtimes.mjs";
import { environments as types } from "./environments/types.mjs";
import { environments as webhooks } from "./environments/webhooks.mjs";
import { Skipped, useBrowsers } from "./lib/browser.mjs";
import { install } from "./lib/install.mjs";
import { Workspace } from "./lib/workspace.mjs";
import { useService } from "./lib/service.mjs";

/**
 * @typedef {object} Environment
 * @property {string} name the name that `npm run matrix -- NAME` takes
 * @property {(workspace: Workspace) => string | Promise<string>} version returns the tool's name and version; throws
 *   {@link Skipped} if the tool is not available
 * @property {(workspace: Workspace) => Promise<void>} run throws if the package does not work in this environment
 * @property {"chromium" | "firefox" | "webkit"} [browser] the browser that opens its pages; default: Chromium
 * @property {string} [mayBeMissing] why the run may pass in CI although the tool is not available
 */

/** @type {Environment[]} */
const ENVIRONMENTS = [
  ...runtimes,
  ...types,
  ...rows,
  ...reactNative,
  ...recipes,
  ...webhooks,
  ...adapters,
  ...components,
  ...firefox,
];

/**
 * Returns the environments whose names begin with one of these texts.
 * @param {string[]} names beginnings of names; none means all
 */
export function chosen(names) {
  return ENVIRONMENTS.filter(
    ({ name }) =>
      names.length === 0 || names.some((each) => name === each || name.startsWith(`${each}-`)),
  );
}

/**
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 * @param {Environment[]} environments
 * @param {{build: boolean}} wish
 */
export async function matrix(tools, environments, wish) {
  const home = await install(tools, wish);
  const service = await useService();
  const browsers = useBrowsers(tools.browser, join(home, "node_modules"));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    for (const each of environments)
      counts[await attempt(each, { tools, home, service, browsers })] += 1;
  } finally {
    await Promise.all([browsers.close(), service.close()]);
  }
  return counts;
}

async function attempt(environment, given) {
  const started = Date.now();
  const { outcome, version, why } = await resultOf(environment, given);
  const label = { passed: "ok  ", failed: "FAIL", skipped: "skip" }[outcome];
  log(
    `${label}  ${environment.name.padEnd(18)}  ${(version ?? "").padEnd(28)}  ${duration(Date.now() - started)}${why ? `\n${indented(why)}` : ""}`,
  );
  return outcome;
}

async function resultOf(environment, { tools, home, service, browsers }) {
  const { name, mayBeMissing } = environment;
  const folder = join(home, "projects", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const browser = () => browsers.use(environment.browser ?? "chromium");
  const workspace = new Workspace({ tools, home, folder, service, browser });
  let version;
  try {
    version = await environment.version(workspace);
    await environment.run(workspace);
    return { outcome: "passed", version };
  } catch (error) {
    return { outcome: outcomeOf(error, mayBeMissing), version, why: reasonOf(error) };
  } finally {
    await workspace.leave();
  }
}

/**
 * Returns `skipped` or `failed` for an environment that threw. In CI, only an environment with a reason in
 * `mayBeMissing` may be skipped. Otherwise CI would stay green while the matrix tests fewer and fewer
 * environments.
 */
export function outcomeOf(error, mayBeMissing, env = process.env) {
  return error instanceof Skipped && (mayBeMissing || !env.CI) ? "skipped" : "failed";
}

/**
 * Returns the text to print for an error. Usually this is the stack, which says where the error was thrown.
 * It is only the message if the environment was skipped, or if the message has several lines, such as a
 * command's output.
 */
function reasonOf(error) {
  const isPlain = error instanceof Skipped || error?.message?.includes("\n");
  return String(isPlain ? error.message : (error?.stack ?? error));
}

const indented = (text) => text.trimEnd().replace(/^/gm, "      ");
