/** An HTTP client that sends what it is given. */
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

/**
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path sent as it is written
 * @property {Record<string, string>} [headers]
 * @property {Uint8Array | string} [body]
 * @property {boolean} [chunked] send the body without its length
 */

const agent = new Agent({ keepAlive: true, maxSockets: 50 });

/**
 * Closes the connections that are idle: a server that closes one just when it is used again fails a
 * request for nothing.
 */
export const closeIdleConnections = () => agent.destroy();

/**
 * Sends one request; redirects, cookies and encodings are left alone.
 * @param {string} origin
 * @param {Request} request
 * @returns {Promise<{status: number, headers: Record<string, string>, text: string}>}
 */
export async function send(origin, { method, path, headers = {}, body, chunked = false }) {
  const { hostname, port } = new URL(origin);
  const length =
    body === undefined || chunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const request = httpRequest({
    agent,
    hostname,
    port,
    method,
    path,
    headers: { ...headers, ...length },
  });
  const answered = once(request, "response");
  if (chunked) for (const piece of pieces(body)) request.write(piece);
  request.end(chunked ? undefined : body);
  const [response] = await answered;
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

const PIECE = 64 * 1024;

function* pieces(body) {
  const bytes = Buffer.from(body);
  for (let start = 0; start < bytes.length; start += PIECE)
    yield bytes.subarray(start, start + PIECE);
}
