/** A Chromium for the tests in a browser: the user's own, else playwright's download, else Debian's. */
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { debianHas, debianWorks, installDebian } from "./debian.mjs";
import { Unavailable, say } from "./report.mjs";
import { run, runnable, which } from "./run.mjs";

const NAMES = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "chrome"];
const PLACES = {
  darwin: ["/Applications", join(homedir(), "Applications")].flatMap((folder) => [
    join(folder, "Google Chrome.app/Contents/MacOS/Google Chrome"),
    join(folder, "Chromium.app/Contents/MacOS/Chromium"),
  ]),
  win32: [process.env.PROGRAMFILES, process.env["PROGRAMFILES(X86)"], process.env.LOCALAPPDATA]
    .filter(Boolean)
    .map((folder) => join(folder, "Google/Chrome/Application/chrome.exe")),
};
/** For whoever starts it: it runs as root and in containers, and asks nobody on the network. */
export const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const DOWNLOAD_MS = 10 * 60_000;
const CONNECT_MS = 5_000;

/** The browser's path, or null. @param {string} cache */
export function findBrowser(cache) {
  const named = [process.env.CHROME_PATH, ...NAMES.map((name) => which(name)), ...(PLACES[process.platform] ?? [])];
  return named.find((path) => path && runnable(path)) ?? downloaded(cache);
}

/** Its WebDriver, which only `wasm-bindgen-test-runner` needs; null where there is none. */
export const findDriver = () => process.env.CHROMEDRIVER || which("chromedriver");

const downloads = (cache) => join(cache, "browsers");

function downloaded(cache) {
  try {
    const files = readdirSync(downloads(cache), { recursive: true });
    const marker = files.find((file) => /^chromium_headless_shell-\d+.INSTALLATION_COMPLETE$/.test(file)); // written last
    const shell = marker && files.find((file) => /[/\\](chrome-)?headless[-_]shell(\.exe)?$/.test(file) && runnable(join(downloads(cache), file)));
    return shell ? join(downloads(cache), shell) : null;
  } catch {
    return null;
  }
}

/** @param {{root: string, cache: string}} place */
export async function installBrowser({ root, cache }) {
  if (await download({ root, cache })) return;
  say("    playwright's download is out of reach; trying Debian's chromium");
  if (debianWorks()) await installDebian("Chromium", ["chromium", "chromium-driver"]);
  if (findBrowser(cache)) return;
  const remedy = debianHas("chromium") ? "run `apt-get install chromium chromium-driver` as root" : "install Chrome or set CHROME_PATH";
  throw new Unavailable("a Chromium for the browser tests", "none is installed and none could be downloaded", `${remedy}, then run this again`);
}

async function download({ root, cache }) {
  const env = { ...process.env, PLAYWRIGHT_BROWSERS_PATH: downloads(cache), PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: String(CONNECT_MS) };
  const cli = join(root, "node_modules", "playwright-core", "cli.js");
  await run(process.execPath, [cli, "install", "chromium-headless-shell"], { cwd: root, env, timeout: DOWNLOAD_MS, name: "playwright" });
  return downloaded(cache) !== null;
}
