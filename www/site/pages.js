/** Finds the documents that become pages, and resolves the links between them. */
import { globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { REPOSITORY } from "./origin.js";

/**
 * A page. `address`: its path in the site, which ends in a slash if other pages are below it; `file`: the document
 * that it is made from, from the root of the repository; `markdown`: its text, which begins with its title.
 * @typedef {{address: string, file: string, markdown: string, title: string, about: string}} Page
 * @typedef {{root: string, pages: Map<string, Page>}} Site `pages`: by their documents
 */

/** Documents whose address is not their name: those that have a folder of pages below them. */
const INDEXES = {
  "docs/commands.md": "commands/",
  "docs/decisions/README.md": "decisions/",
  "docs/errors/README.md": "errors/",
};

/** Files of `docs` that the site has as they are. */
export const FILES = ["openapi.yaml", "connection.schema.json"];

const addressOf = (file) => INDEXES[file] ?? file.replace(/^docs\/|\.md$/g, "");

/** Returns a page of this text. @param {string} address @param {string} file @param {string} text @returns {Page} */
export function pageOf(address, file, text) {
  const markdown = text.replaceAll(/^<!--.*-->\n\n?/gm, "");
  const [, title = ""] = markdown.match(/^# (.+)$/m) ?? [];
  if (!title) throw new Error(`${file} has no title`);
  return { address, file, markdown, title: plain(title), about: aboutOf(markdown) };
}

/** Returns the pages of all documents. @param {string} root */
export const documents = (root) =>
  globSync("docs/{,commands/,decisions/,errors/}*.md", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .sort()
    .map((file) => pageOf(addressOf(file), file, readFileSync(join(root, file), "utf8")));

/** Returns a text without the marks of Markdown. @param {string} text */
export const plain = (text) =>
  text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[*`]|\\(?=[\\`*_{}[\]()#+.!|-])/g, "");

/** Returns what a page is about: its first paragraph. */
function aboutOf(markdown) {
  const [, paragraph = ""] = markdown.match(/^# .+\n+((?:(?!#|\||- |```|!\[).+\n)+)/m) ?? [];
  return plain(paragraph.replaceAll(/\s+/g, " ").trim());
}

/**
 * Returns where a link leads: to a page of the site, to one of its files, or to another address.
 * @param {string} href as a document has it
 * @param {string} from the document
 * @param {Site} site
 * @returns {{page?: Page, file?: string, url?: string, anchor: string}}
 */
export function resolveLink(href, from, { root, pages }) {
  const here = href.startsWith(`${REPOSITORY}/blob/main/`)
    ? `/${href.slice(`${REPOSITORY}/blob/main/`.length)}`
    : href;
  if (here.startsWith("code:")) return { page: pageOfCode(here.slice("code:".length)), anchor: "" };
  if (/^[a-z]+:/.test(here)) return { url: here, anchor: "" };
  const [path = "", anchor = ""] = here.split("#");
  const target = path === "" ? from : posix.join(path.startsWith("/") ? "" : dirname(from), path);
  const file = target.replace(/^\//, "");
  const page = pages.get(file);
  if (page) return { page, anchor };
  const name = basename(file);
  if (dirname(file) === "docs" && FILES.includes(name)) return { file: name, anchor };
  if (file.startsWith("docs/images/")) return { file: file.replace("docs/", ""), anchor };
  const kind = statSync(join(root, file)).isDirectory() ? "tree" : "blob";
  return { url: `${REPOSITORY}/${kind}/main/${file}${anchor && `#${anchor}`}`, anchor: "" };
}

/** Returns what a link to the page of an error code needs. @param {string} code @returns {Page} */
const pageOfCode = (code) => ({
  ...{ address: `errors/${code}`, title: code },
  ...{ file: "", markdown: "", about: "" },
});

/** Returns a link from one address of the site to another, which works below any origin and path. */
export function relativeLink(from, to) {
  const up = "../".repeat(from.split("/").length - 1);
  return up + to || "./";
}

/** Returns the file of a page, from the root of the site. @param {string} address */
export const htmlFile = (address) =>
  /(^|\/)$/.test(address) ? `${address}index.html` : `${address}.html`;

/** Returns the file with a page's Markdown, beside the page as llmstxt.org has it. @param {string} address */
export const markdownFile = (address) =>
  /(^|\/)$/.test(address) ? `${address}index.html.md` : `${address}.md`;
