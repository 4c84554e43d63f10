/**
 * A Firefox of this machine, as its maker ships it: by WebDriver BiDi, since playwright drives only builds of its own. It
 * stands in for the Chromium of an environment, for what playwright's pages and puppeteer's have in common.
 */
import { pathToFileURL } from "node:url";
import { find } from "../../../scripts/lib/run.mjs";
import { Skipped } from "./skipped.mjs";

const NAMES = ["firefox", "firefox-esr"];

/** @returns {string} the path of a Firefox; throws {@link Skipped} where there is none */
export function findFirefox(env = process.env) {
  const path = env.FIREFOX_PATH || NAMES.map((name) => find(name, env.PATH)).find(Boolean);
  if (!path)
    throw new Skipped(
      `there is no Firefox: put \`${NAMES.join("` or `")}\` into PATH, as Debian's package firefox-esr does, or set FIREFOX_PATH`,
    );
  return path;
}

/**
 * Started at once, and ended when the workspace is closed.
 * @param {import("./workspace.mjs").Workspace} workspace
 */
export async function useFirefox(workspace) {
  const executablePath = findFirefox();
  const { launch } = await import(
    pathToFileURL(workspace.tool("puppeteer-core", "lib", "puppeteer", "puppeteer-core.js")).href
  );
  const browser = await launch({ browser: "firefox", executablePath });
  workspace.whenLeaving(() => browser.close());
  return browser;
}
