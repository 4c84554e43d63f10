/** Runs a Worker on workerd directly, without wrangler's proxy between it and the test. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect, liveHeapBytes, wasmBytes } from "../proofs/bench/service/inspector.mjs";
import { residentBytes } from "../proofs/bench/service/process.mjs";
import { Server, bundle } from "../proofs/bench/service/workerd.mjs";
import { seedData } from "../../scripts/lib/seed.mjs";
import { tools } from "../e2e/script.mjs";

export const KEY = "service_sk_test_dev_unit";
export const PATH = "/v2/pledge-transaction";

/**
 * Starts a Worker with the development data.
 * @param {string} main path of the Worker's main module, relative to the clone's root
 * @param {{adapter?: string}} [more] see {@link bundle}
 * @returns {Promise<{server: Server, close: () => Promise<void>}>}
 */
export async function startWorkerd(main, more) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-workerd-"));
  const server = await Server.start(
    tools,
    await bundle(tools, { main: join(tools.root, main), folder, ...more }),
    { inspected: true },
  );
  const { entries } = await seedData(tools);
  await server.seed(entries);
  const close = async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, close };
}

/**
 * Returns three numbers of bytes for a running Worker: the memory of its process, its live JavaScript
 * objects, and its WebAssembly memory.
 */
export async function memoryOf(server) {
  const inspector = await inspect(server.ports.inspector, "main");
  const memory = {
    resident: residentBytes(server.pid),
    heap: await liveHeapBytes(inspector),
    wasm: await wasmBytes(inspector),
  };
  inspector.close();
  return memory;
}

/**
 * Sends bytes on a new connection, and leaves the connection open. `answer` is the text that has arrived when
 * `done` first returns true, or when the connection ends.
 */
export async function stall(server, bytes, done = (text) => text.includes("\r\n\r\n")) {
  const socket = connect({ host: "127.0.0.1", port: server.ports.main });
  socket.on("error", () => {});
  await once(socket, "connect");
  let text = "";
  const answer = new Promise((resolve) => {
    socket.on("close", () => resolve(text));
    socket.setEncoding("utf8").on("data", (more) => {
      text += more;
      if (done(text)) resolve(text);
    });
  });
  socket.write(bytes);
  // An ordinary close could mean only the end of the request. Resetting a socket that has ended would keep Node running.
  const hangUp = () => (socket.writableEnded ? socket.destroy() : socket.resetAndDestroy());
  return { answer, hangUp };
}
