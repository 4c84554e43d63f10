/** Servers on a free port of the loopback. */
import { once } from "node:events";

/**
 * @param {import("node:http").Server} server
 * @returns {Promise<{origin: string, close: () => Promise<void>}>} `close` ends open connections, too
 */
export async function onLoopback(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}
