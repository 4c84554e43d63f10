/** Reads the examples of a Markdown page: the code blocks that run in a browser or on a server. */
import { readFileSync } from "node:fs";

const BLOCK = /^```(html|jsx?|tsx?)\n([\s\S]*?)^```/gm;

/**
 * Returns the examples of a page.
 * @param {string} path the path of the page
 * @returns {{language: string, code: string}[]}
 */
export const examplesOf = (path) =>
  [...readFileSync(path, "utf8").matchAll(BLOCK)].map(([, language, code]) => ({ language, code }));
