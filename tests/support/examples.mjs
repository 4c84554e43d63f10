/** Reads the fenced code blocks of Markdown pages. */
import { readFileSync } from "node:fs";

const BLOCK = /^([ \t]*)```([^\n]*)\n([\s\S]*?)^\1```$/gm;
/** The languages of examples, which run in a browser or on a server. */
const EXAMPLES = ["html", "js", "jsx", "ts", "tsx"];

/**
 * Returns the code blocks of a page, without the indentation of the list that they are in.
 * @param {string} path the path of the page
 * @returns {{language: string, code: string}[]}
 */
export const blocksOf = (path) =>
  [...readFileSync(path, "utf8").matchAll(BLOCK)].map(([, indentation = "", language, code]) => ({
    language: language ?? "",
    code: (code ?? "").replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  }));

/**
 * Returns the examples of a page: the code blocks that run in a browser or on a server.
 * @param {string} path the path of the page
 */
export const examplesOf = (path) =>
  blocksOf(path).filter(({ language }) => EXAMPLES.includes(language));
