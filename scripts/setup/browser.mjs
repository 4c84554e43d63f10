/**
 * Finds or installs a Chromium for the browser tests. Takes the user's own browser. If there is none, takes
 * playwright's download, or else Debian's package.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installDebian } from "./debian.mjs";
import { run } from "../lib/run.mjs";

/** Flags that let Chromium run as root and in containers, and that turn off its background network requests. */
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const [DOWNLOAD_MS, CONNECT_MS] = [10 * 60_000, 5_000];

/** @returns {Promise<string | null>} its path */
export async function findBrowser() {
  const { Launcher } = await import("chrome-launcher"); // it and playwright are slow to load, and only tests ask
  const own = await Promise.resolve()
    .then(() => Launcher.getFirstInstallation())
    .catch(() => null); // on Linux it throws where there is none
  if (own) return own;
  const { chromium } = await import("playwright-core");
  return [chromium.executablePath()].find(existsSync) ?? null;
}

/** @param {import("./tools.mjs").Place} place */
export async function installBrowser({ root }) {
  const args = [
    join(root, "node_modules", "playwright-core", "cli.js"),
    "install",
    "--no-shell",
    "chromium",
  ];
  const env = { ...process.env, PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: String(CONNECT_MS) };
  await run(process.execPath, args, { cwd: root, env, timeout: DOWNLOAD_MS, show: true }).catch(
    () => {},
  );
  if (!(await findBrowser()))
    await installDebian(
      "a Chromium for the browser tests",
      ["chromium"],
      "install Chrome or set CHROME_PATH, then run this again",
    );
}
