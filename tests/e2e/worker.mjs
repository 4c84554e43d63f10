/** The real Worker, on workerd with local KV of its own, and a client that sends what it is given. */
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createTestHarness } from "wrangler";
import { seedData } from "../../scripts/lib/seed.mjs";
import { tools } from "./script.mjs";

/**
 * @typedef {object} Worker
 * @property {string} origin
 * @property {KVNamespace} kv
 * @property {() => {level: string, message: string}[]} logs
 * @property {() => Promise<void>} close
 */

// Else workerd's stand-in for Cloudflare's network asks the real one who it is.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";

/**
 * Starts the Worker with the development data.
 * @param {{allowedOrigins?: string}} [options]
 * @returns {Promise<Worker>}
 */
export async function startWorker({ allowedOrigins = "" } = {}) {
  const configPath = join(tools.root, "wrangler.toml");
  const harness = createTestHarness({ workers: [{ configPath, vars: { ALLOWED_ORIGINS: allowedOrigins } }] });
  const { url } = await harness.listen();
  const { PLEDGES: kv } = await harness.getWorker().getEnv();
  const { entries } = await seedData(tools);
  for (const { key, value } of entries) await kv.put(key, value);
  return { origin: url.origin, kv, logs: () => harness.getLogs(), close: () => harness.close() };
}

/**
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path sent as it is written
 * @property {Record<string, string>} [headers]
 * @property {Uint8Array | string} [body]
 * @property {boolean} [chunked] send the body without its length
 */

const agent = new Agent({ keepAlive: true, maxSockets: 50 });

/** Closes the connections that are idle: a server that closes one just when it is used again fails a request for nothing. */
export const closeIdleConnections = () => agent.destroy();

/**
 * Sends one request; redirects, cookies and encodings are left alone.
 * @param {string} origin
 * @param {Request} request
 * @returns {Promise<{status: number, headers: Record<string, string>, text: string}>}
 */
export async function send(origin, { method, path, headers = {}, body, chunked = false }) {
  const { hostname, port } = new URL(origin);
  const length = body === undefined || chunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const request = httpRequest({ agent, hostname, port, method, path, headers: { ...headers, ...length } });
  const answered = once(request, "response");
  if (chunked) for (const piece of pieces(body)) request.write(piece);
  request.end(chunked ? undefined : body);
  const [response] = await answered;
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

const PIECE = 64 * 1024;

function* pieces(body) {
  const bytes = Buffer.from(body);
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE);
}

/** @param {string} origin @param {string} key @param {unknown} json */
export function create(origin, key, json, headers = {}) {
  return send(origin, {
    method: "POST",
    path: "/v2/pledge-transaction",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(json),
  });
}

/** @param {string} origin @param {string} key @param {string} id */
export function get(origin, key, id) {
  return send(origin, { method: "GET", path: `/v2/pledge-transaction/${id}`, headers: { authorization: `Bearer ${key}` } });
}
