/** Serves a built site as its host does: without the ending of a page's file, and with the headers of `_headers`. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { onLoopback } from "./loopback.mjs";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".avif": "image/avif",
  ".webp": "image/webp",
  ".md": "text/markdown; charset=utf-8",
};

/** Returns the rules of `_headers`: a path, which may end in `*`, then lines that set a header, or remove it by `! Name`. */
const rulesOf = (text) =>
  [...text.matchAll(/^(\/\S*)\n((?: {2}.+\n)+)/gm)].map(([, path = "", lines = ""]) => ({
    path,
    lines: lines.trim().split(/\n */),
  }));

/** Returns the headers of an address: all rules that match it, in their order. */
function headersOf(rules, pathname) {
  const headers = new Map();
  const fits = (path) =>
    path === pathname || (path.endsWith("*") && pathname.startsWith(path.slice(0, -1)));
  for (const line of rules.filter(({ path }) => fits(path)).flatMap(({ lines }) => lines)) {
    const [, name = "", value] = line.match(/^(?:! )?([\w-]+)(?:: (.*))?$/) ?? [];
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/**
 * Starts a server on a free port.
 * @param {string} folder @returns {Promise<{origin: string, close: () => Promise<void>}>}
 */
export async function serveFolder(folder) {
  const rules = rulesOf(readFileSync(join(folder, "_headers"), "utf8"));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(folder, normalize(decodeURI(pathname)));
    const isFile = (file) => existsSync(file) && statSync(file).isFile();
    const found = [join(path, "index.html"), path, `${path}.html`].find(isFile);
    const file = found ?? join(folder, "404.html");
    response.writeHead(found ? 200 : 404, {
      "content-type": TYPES[extname(file)] ?? "text/plain",
      ...headersOf(rules, pathname),
    });
    response.end(readFileSync(file));
  });
  return onLoopback(server);
}
