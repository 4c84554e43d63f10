/** One Chromium for all environments, started when the first of them asks for a page. */
import { chromium } from "playwright-core";
import { FLAGS } from "../../../scripts/lib/browser.mjs";

/** @param {string | undefined} executablePath */
export function useBrowser(executablePath) {
  let started;
  const browser = () => (started ??= chromium.launch({ executablePath, args: FLAGS }));
  return {
    newPage: async (options) => (await browser()).newPage(options),
    version: async () => (await browser()).version(),
    close: async () => (await started)?.close(),
  };
}
