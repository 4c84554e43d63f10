/**
 * Checks what the client reports about a create request if the connection breaks, before or after the service
 * received the request, and no new connection is accepted.
 */
import { createServer } from "node:http";
import { REQUEST } from "./smoke.mjs";

/**
 * Sends create requests that are lost. In some runtimes, `fetch` sends the request again by itself, and reports only
 * that it was refused.
 * @returns the requests that were received, and the errors of a create request that was received, and of one that was not
 */
export async function ofLostCreates(PledgeClient) {
  const received = [];
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    received.push(request.method);
    if (request.method === "GET") return response.writeHead(404).end();
    server.close();
    request.socket.destroy();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = new PledgeClient({ apiKey: "service_sk_test_x", baseUrl, maxRetries: 0 });
  await client.getPledgeTransaction("ptran_1").catch(() => {}); // its connection is kept
  const messages = [];
  for (const _ of ["received", "refused"])
    await client.createPledgeTransaction(REQUEST).catch(({ message }) => messages.push(message));
  return { received, messages };
}
