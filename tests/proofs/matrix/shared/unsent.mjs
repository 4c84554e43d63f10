/**
 * Checks what the client reports about lost create requests. The server receives the first request, and then
 * breaks the connection. It refuses the connection of the second request.
 */
import { createServer } from "node:http";
import { REQUEST } from "./smoke.mjs";

/**
 * Sends two create requests that are lost: the server receives the first, and refuses the connection of the
 * second. Some runtimes repeat a lost request, and report only that the repetition was refused.
 * @returns the methods of the requests that the server received, and both error messages
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
