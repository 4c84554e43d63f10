/** Checks a built site: each link leads to a page or a file, and to an element on it. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

const HERE = "https://site.invalid/";

/** Returns the file that a host serves at an address of the site, or nothing. */
function served(folder, address) {
  const candidates = address.endsWith("/") || address === "" ? ["index.html"] : ["", ".html"];
  const found = candidates
    .map((end) => (end === "index.html" ? posix.join(address, end) : address + end))
    .find((file) => existsSync(join(folder, file)) && statSync(join(folder, file)).isFile());
  return found;
}

/**
 * Returns what is wrong, a line for each problem.
 * @param {string} folder @returns {string[]}
 */
export function problemsOf(folder) {
  const files = globSync("**/*.html", { cwd: folder, exclude: ["playground/**"] });
  const pages = new Map(files.map((file) => [file.replaceAll("\\", "/"), ""]));
  for (const file of pages.keys()) pages.set(file, readFileSync(join(folder, file), "utf8"));
  const ids = new Map([...pages].map(([file, text]) => [file, idsOf(text)]));
  return [...pages].flatMap(([file, text]) => [
    ...twice(ids.get(file) ?? []).map((id) => `${file}: the id ${id} is there twice`),
    ...linksOf(text).flatMap((href) => problemOf(href, file, folder, ids) ?? []),
  ]);
}

const idsOf = (text) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
const linksOf = (text) => [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href]) => href);
const twice = (list) => list.filter((it, index) => list.indexOf(it) !== index);

function problemOf(href, file, folder, ids) {
  const url = new URL(href, HERE + file);
  if (!url.href.startsWith(HERE)) return;
  const target = served(folder, decodeURI(url.pathname.slice(1)));
  if (!target) return `${file}: ${href} leads nowhere`;
  const anchor = decodeURIComponent(url.hash.slice(1));
  if (anchor && ids.has(target) && !ids.get(target).includes(anchor))
    return `${file}: ${href} names no element of the page`;
}
