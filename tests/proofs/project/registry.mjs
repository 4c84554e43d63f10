/**
 * A local npm registry. It serves one package that is not yet published, and redirects requests for all other
 * packages to another registry.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/**
 * Starts the registry.
 * @param {string} tarball the file of the package
 * @param {{name: string, version: string}} manifest the manifest of the package
 * @param {string} upstream the origin and path of the other registry, with a slash at the end
 * @returns {Promise<{origin: string, close: () => void}>}
 */
export async function serveRegistry(tarball, manifest, upstream) {
  const { name, version } = manifest;
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const path = `/${name}/-/${name}-${version}.tgz`;
  const server = createServer((request, response) => {
    if (request.url === path) return response.end(bytes);
    if (request.url !== `/${name}`)
      return response.writeHead(302, { location: new URL(`.${request.url}`, upstream).href }).end();
    const dist = { tarball: `${origin}${path}`, integrity };
    const versions = { [version]: { ...manifest, dist } };
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const origin = `http://127.0.0.1:${address.port}`;
  return { origin, close: () => server.close() };
}
