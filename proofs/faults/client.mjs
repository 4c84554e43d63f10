/** One request, sent as its caller does: at once, slowly, in pieces, or by one who hangs up. */
import * as http from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 60_000; // far beyond all deadlines of the service
const SLOW_MS = 200;

/**
 * @typedef {object} Outcome
 * @property {number} [status]
 * @property {string} [type] its media type
 * @property {string} [text]
 * @property {boolean} [replayed]
 * @property {string} [error] instead of an answer
 */

export class Client {
  #transports;

  /** @param {number} connections */
  constructor(connections) {
    const transport = ({ Agent, request }) => ({
      request,
      agent: new Agent({ keepAlive: true, maxSockets: connections }),
    });
    this.#transports = { "http:": transport(http), "https:": transport(https) };
  }

  /** Closes the connections that are idle. */
  close() {
    for (const { agent } of Object.values(this.#transports)) agent.destroy();
  }

  /** @param {string} origin @returns {Promise<Outcome>} */
  async send(origin, { method, path, headers, body, way }) {
    const { protocol, hostname, port } = new URL(origin);
    const { agent, request: open } = this.#transports[protocol];
    const framing =
      body === undefined || way === "chunked"
        ? {}
        : { "content-length": String(Buffer.byteLength(body)) };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const request = open({
      agent,
      hostname,
      port,
      method,
      path,
      headers: { ...headers, ...framing },
      signal,
    });
    const answered = answer(request).catch((error) => ({
      error: signal.aborted ? "no answer" : (error.code ?? error.message),
    }));
    await Promise.race([WAYS[way ?? "whole"](request, body), answered]); // without a connection a body is never sent whole
    return answered;
  }
}

async function answer(request) {
  const response = await new Promise((resolve, reject) =>
    request.on("response", resolve).on("error", reject),
  );
  const { statusCode: status, headers } = response;
  return {
    status,
    type: headers["content-type"],
    replayed: headers["idempotent-replayed"] === "true",
    text: await text(response),
  };
}

const half = (body) => body.slice(0, body.length / 2);

const WAYS = {
  whole: (request, body) => void request.end(body),
  async slow(request, body) {
    for (let start = 0; start < body.length; start += 100) {
      request.write(body.slice(start, start + 100));
      await sleep(SLOW_MS);
    }
    request.end();
  },
  chunked(request, body) {
    for (let start = 0; start < body.length; start += 1_000_000)
      request.write(body.slice(start, start + 1_000_000));
    request.end();
  },
  async aborted(request, body) {
    request.write(half(body));
    await sleep(SLOW_MS);
    request.destroy();
  },
  async "hangs up"(request, body) {
    await new Promise((resolve) => request.end(body, resolve));
    request.destroy();
  },
};
