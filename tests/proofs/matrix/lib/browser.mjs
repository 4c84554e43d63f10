/**
 * Starts Chromium, and the Firefox that is installed on this machine. Uses puppeteer, because playwright
 * works only with its own builds of Firefox. A browser is started when an environment first needs it.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FLAGS } from "../../../../scripts/setup/browser.mjs";
import { find } from "../../../../scripts/lib/run.mjs";
import { findWebKit, launchWebKit } from "./webkit.mjs";

/** Thrown if an environment cannot be tested on this machine. The message is the reason. */
export class Skipped extends Error {}

/** Why a run in CI may pass although Firefox is missing. */
export const NO_FIREFOX =
  "npm has no Firefox, and its maker's downloads are out of reach of many machines";

const NAMES = ["firefox", "firefox-esr"];

/**
 * Finds Firefox on this machine. Throws {@link Skipped} if there is none.
 * @returns {string} the path of the program
 */
export function findFirefox(env = process.env) {
  const path = env.FIREFOX_PATH || NAMES.map((name) => find(name, env.PATH)).find(Boolean);
  if (!path)
    throw new Skipped(
      `there is no Firefox: put \`${NAMES.join("` or `")}\` into PATH, as Debian's package firefox-esr does, or set FIREFOX_PATH`,
    );
  return path;
}

/**
 * Returns functions that start browsers and close them.
 * @param {string | null} chromium the path of Chromium
 * @param {string} packages the folder where puppeteer is
 */
export function useBrowsers(chromium, packages) {
  const started = new Map();
  async function start(name) {
    if (name === "webkit") return startWebKit(packages);
    const how =
      name === "firefox"
        ? { browser: name, executablePath: findFirefox() }
        : { executablePath: chromium, args: FLAGS };
    const file = join(packages, "puppeteer-core", "lib", "puppeteer", "puppeteer-core.js");
    const { launch } = await import(pathToFileURL(file).href);
    return launch(how);
  }
  return {
    /**
     * Returns a browser, and starts it first if needed.
     * @param {"chromium" | "firefox" | "webkit"} name
     * @returns {Promise<any>} a browser with puppeteer's interface
     */
    use(name) {
      if (!started.has(name)) started.set(name, start(name));
      return started.get(name);
    },
    async close() {
      for (const browser of started.values())
        await browser.then(
          (each) => each.close(),
          () => {},
        );
    },
  };
}

function startWebKit(packages) {
  const programs = findWebKit();
  if (!programs)
    throw new Skipped("there is no WebKitGTK: install Debian's webkit2gtk-driver and xvfb");
  return launchWebKit(programs, packages);
}
