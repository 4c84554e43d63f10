/** Starts test servers on free ports of the loopback interface. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";

/**
 * Starts a server on a free port of this machine.
 * @param {import("node:http").Server} server
 * @returns {Promise<{origin: string, close: () => Promise<void>}>} `close` also closes open connections, and may be called twice
 */
export async function onLoopback(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}

/**
 * Host names: `OWN` lists names of this machine, `OTHER` lists names by which a page of another site could
 * reach it. `PORT` stands for the port.
 */
const OWN =
  "127.0.0.1:PORT 127.0.0.1 127.1.2.3:PORT [::1]:PORT localhost:PORT LOCALHOST localhost. shop.localhost:PORT";
const OTHER =
  "evil.example:PORT evil.example localhost.evil.example evillocalhost 127.0.0.1.evil.example 10.0.0.1:PORT [::2]:PORT";

/**
 * Asserts that a development server checks the host name of a request. The server must answer for the names
 * of this machine, and refuse all other names with an error message.
 * @param {string} origin
 * @param {{method?: string, path?: string, headers?: Record<string, string>}} call the request to send with
 *   each host name
 */
export async function refusesOtherHosts(origin, { path = "/", ...call } = {}) {
  const { port } = new URL(origin);
  const answer = async (host) => {
    const headers = { ...call.headers, host: host.replace("PORT", port) };
    const [response] = await once(
      request(`${origin}${path}`, { ...call, headers }).end(),
      "response",
    );
    return {
      status: response.statusCode,
      type: response.headers["content-type"],
      body: await text(response),
    };
  };
  for (const host of OWN.split(" ")) assert.notEqual((await answer(host)).status, 403, host);
  for (const host of OTHER.split(" ")) {
    const { status, type, body } = await answer(host);
    assert.deepEqual([status, type], [403, "text/plain; charset=utf-8"], host);
    assert.match(body, /^Refused: .* `(.+)`\. .*DNS rebinding.*\n$/, host);
  }
}
