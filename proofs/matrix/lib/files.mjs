/** A folder as a site on a loopback port. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { onLoopback } from "../../../tests/support/loopback.mjs";

const POLICY = "script-src 'self' 'wasm-unsafe-eval'";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".mjs": "text/javascript",
  ".js": "text/javascript",
};

/**
 * @param {string} folder
 * @param {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => boolean} [handle]
 *   what is no file
 */
export async function serveFolder(folder, handle = () => false) {
  const server = createServer((request, response) => {
    if (handle(request, response)) return;
    const path = normalize(new URL(request.url ?? "/", "http://x").pathname);
    try {
      const file = path.endsWith("/") ? `${path}index.html` : path;
      const body = readFileSync(join(folder, file));
      response
        .writeHead(200, {
          "content-type": TYPES[extname(file)] ?? "application/octet-stream",
          "content-security-policy": POLICY,
        })
        .end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return onLoopback(server);
}
