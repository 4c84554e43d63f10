/**
 * Drives WebKitGTK with WebDriver, using Debian's packages webkit2gtk-driver and xvfb. Offers the part of
 * puppeteer's interface that the tests of component libraries need.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import getPort from "get-port";
import { find } from "../../../../scripts/lib/run.mjs";

const POLL_MS = 50;
const PATIENCE_MS = 30_000;

/**
 * Finds the programs that drive WebKitGTK.
 * @returns {Record<"driver" | "display" | "browser", string> | null} their paths; null if one is missing
 */
export function findWebKit(env = process.env) {
  const [driver, display] = ["WebKitWebDriver", "Xvfb"].map((name) => find(name, env.PATH));
  const [browser] = globSync("/usr/lib/*/webkit2gtk-4.*/MiniBrowser");
  return driver && display && browser ? { driver, display, browser } : null;
}

/**
 * Starts WebKitGTK.
 * @param {NonNullable<ReturnType<typeof findWebKit>>} programs
 * @param {string} packages where selenium-webdriver is
 */
export async function launchWebKit(programs, packages) {
  const screen = spawn(programs.display, ["-displayfd", "1"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [display] = await once(screen.stdout, "data");
  const port = await getPort({ host: "127.0.0.1" });
  const server = spawn(programs.driver, ["--host=127.0.0.1", `--port=${port}`], {
    env: { ...process.env, DISPLAY: `:${String(display).trim()}` },
    stdio: "ignore",
  });
  const file = join(packages, "selenium-webdriver", "index.js");
  const { default: selenium } = await import(pathToFileURL(file).href);
  const driver = await connected(selenium, `http://127.0.0.1:${port}`, programs.browser);
  const page = pageOf(selenium, driver);
  return {
    version: async () => `webkitgtk ${(await driver.getCapabilities()).get("browserVersion")}`,
    createBrowserContext: async () => ({ newPage: async () => page, close: async () => {} }),
    async close() {
      await driver.quit().catch(() => {});
      for (const child of [server, screen]) child.kill();
    },
  };
}

/** Requests a WebDriver session again and again, until the driver accepts connections. */
async function connected({ Builder }, server, binary) {
  const options = { binary, args: ["--automation"] };
  const builder = new Builder()
    .usingServer(server)
    .withCapabilities({ browserName: "MiniBrowser", "webkitgtk:browserOptions": options });
  return untilDone(() => builder.build());
}

async function untilDone(attempt) {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
  }
}

const KEYS = { Tab: "TAB", Control: "CONTROL", Backspace: "BACK_SPACE" };

function pageOf({ By, Key }, driver) {
  const evaluate = (work, ...given) =>
    driver.executeScript(`return (${work}).apply(null, arguments);`, ...given);
  const element = (selector) => driver.findElement(By.css(selector));
  const keys = () => driver.actions({ async: true });
  const keyOf = (name) => Key[KEYS[name]] ?? name;
  return {
    goto: (url) => driver.get(url),
    evaluate,
    $eval: (selector, work) =>
      driver.executeScript(`return (${work})(document.querySelector(arguments[0]));`, selector),
    $$eval: (selector, work) =>
      driver.executeScript(
        `return (${work})([...document.querySelectorAll(arguments[0])]);`,
        selector,
      ),
    click: async (selector) => (await element(selector)).click(),
    waitForFunction: (work) =>
      untilDone(async () => {
        if (!(await evaluate(work))) throw new Error(`in vain: ${work}`);
      }),
    keyboard: {
      async type(text, { delay = 0 } = {}) {
        for (const char of text) await keys().sendKeys(char).pause(delay).perform();
      },
      press: (name) => keys().keyDown(keyOf(name)).keyUp(keyOf(name)).perform(),
      down: (name) => keys().keyDown(keyOf(name)).perform(),
      up: (name) => keys().keyUp(keyOf(name)).perform(),
    },
  };
}
