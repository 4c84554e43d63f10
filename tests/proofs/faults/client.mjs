/**
 * Sends one request in the way that the request itself states: at once, slowly, or with a broken connection.
 */
import { Agent, request as open } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 60_000; // longer than all deadlines of the service together
const SLOW_MS = 200;

/**
 * @typedef {object} Outcome
 * @property {number} [status]
 * @property {string} [text]
 * @property {boolean} [replayed]
 * @property {string} [error] instead of an answer
 */

export class Client {
  /** Creates a client that uses a limited number of connections. @param {number} connections at most */
  constructor(connections) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Closes idle connections. */
  close = () => this.agent.destroy();

  /** @param {string} origin @returns {Promise<Outcome>} */
  async send(origin, { method, path, headers, body, way = "whole" }) {
    const framing = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const request = open(new URL(path, origin), {
      agent: this.agent,
      method,
      signal,
      headers: { ...headers, ...framing },
    });
    const answered = answer(request).catch((error) => ({
      error: signal.aborted ? "no answer" : (error.code ?? error.message),
    }));
    await Promise.race([WAYS[way](request, body), answered]); // without a connection, a body is never sent to its end
    return answered;
  }
}

async function answer(request) {
  const response = await new Promise((resolve, reject) =>
    request.on("response", resolve).on("error", reject),
  );
  const replayed = response.headers["idempotent-replayed"] === "true";
  return { status: response.statusCode, replayed, text: await text(response) };
}

const WAYS = {
  whole: (request, body) => void request.end(body),
  async slow(request, body) {
    for (let start = 0; start < body.length; start += 100) {
      request.write(body.slice(start, start + 100));
      await sleep(SLOW_MS);
    }
    request.end();
  },
  async aborted(request, body) {
    request.write(body.slice(0, body.length / 2));
    await sleep(SLOW_MS);
    request.destroy();
  },
  async "hangs up"(request, body) {
    await new Promise((resolve) => request.end(body, resolve));
    request.destroy();
  },
};
