/** Serves the built site as its host does: without the ending of a page's file, and with the headers of `_headers`. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { onLoopback } from "../support/loopback.mjs";

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

/** Returns the headers that `_headers` has for all paths. @param {string} folder */
function headersForAll(folder) {
  const [, lines = ""] =
    readFileSync(join(folder, "_headers"), "utf8").match(/^\/\*\n((?: {2}.+\n)+)/) ?? [];
  return Object.fromEntries(
    lines
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/: (.*)/, 2)),
  );
}

/**
 * Starts a server on a free port.
 * @param {string} folder @returns {Promise<{origin: string, close: () => Promise<void>}>}
 */
export async function serveSite(folder) {
  const headers = headersForAll(folder);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(folder, normalize(decodeURI(pathname)));
    const isFile = (file) => existsSync(file) && statSync(file).isFile();
    const found = [join(path, "index.html"), path, `${path}.html`].find(isFile);
    const file = found ?? join(folder, "404.html");
    response.writeHead(found ? 200 : 404, {
      ...headers,
      "content-type": TYPES[extname(file)] ?? "text/plain",
    });
    response.end(readFileSync(file));
  });
  return onLoopback(server);
}
