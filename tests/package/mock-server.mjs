/**
 * A service on a loopback port. A test chooses whether its answers follow the contract or break it.
 * `serve(...answers)` sends the answers in order, and repeats the last one.
 */
import { createServer } from "node:http";
import { onLoopback } from "../support/loopback.mjs";

/**
 * @typedef {{method: string, path: string, headers: import("node:http").IncomingHttpHeaders, body: string, at: number}} Seen
 * @typedef {(response: import("node:http").ServerResponse, request: Seen) => void} Answer
 */

/** @param {...Answer} answers */
export async function serve(...answers) {
  /** @type {Seen[]} */
  const seen = [];
  const server = createServer(async (request, response) => {
    const at = Date.now();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", url: path = "/", headers } = request;
    const now = { method, path, headers, body: Buffer.concat(chunks).toString(), at };
    seen.push(now);
    answers[Math.min(seen.length, answers.length) - 1](response, now);
  });
  const { origin, close } = await onLoopback(server);
  return { baseUrl: origin, seen, close };
}

/** Returns an answer whose body is JSON. @returns {Answer} */
export const json = (body, { status = 200, headers = {} } = {}) =>
  text(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

/** @returns {Answer} */
export const text =
  (body, { status = 200, headers = {} } = {}) =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Closes the connection before the first byte of the answer. @type {Answer} */
export const hangUp = (response) => void response.socket?.destroy();

/** Closes the connection in the middle of the body. @type {Answer} */
export const breakOff = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"reference":');
  setTimeout(() => response.socket?.destroy(), 20);
};

/** Never answers. @type {Answer} */
export const silence = () => {};

/** Sends headers at once, and never a body. @type {Answer} */
export const stall = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"reference":');
};

/** Sends a body without end. @type {Answer} */
export const flood = (response) => {
  response.writeHead(500, { "content-type": "text/plain" });
  const block = "x".repeat(65_536);
  const more = () => {
    while (response.write(block));
  };
  response.on("drain", more).on("error", () => {});
  more();
};

export const REQUEST = Object.freeze({
  reference: "order-1",
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
});

const nothing = {
  name: null,
  description: null,
  nounSingular: null,
  nounPlural: null,
  image: null,
  externalId: null,
  externalUrl: null,
};

/** Returns the answer to {@link REQUEST}. */
export const created = (changes = {}) => ({
  id: "ptran_1",
  reference: "order-1",
  createdAt: "2026-01-31T12:00:00Z",
  isLive: false,
  charge: { amount: "0.50", currencyCode: "USD", paidAt: null },
  recipient: { email: "ada@example.org", firstName: "Ada", name: null },
  trigger: { date: null, phrase: null, externalUrl: null },
  pledges: [{ id: "p_1", impact: { amount: 1, offeringId: "tree" }, detail: nothing }],
  notifications: [],
  timelineUrl: "https://pledges.example.org/timeline/ptran_1?edit_key=secret",
  ...changes,
});

/**
 * Returns the answer to a get request for the same transaction. It has only the members that a get returns.
 */
export const retrieved = (changes = {}) => ({
  createdAt: "2026-01-31T12:00:00Z",
  reference: "order-1",
  isLive: false,
  charge: { amount: "0.50", currencyCode: "USD", paidAt: "2026-02-01T00:00:00Z" },
  trigger: { date: null, phrase: null, externalUrl: null },
  pledges: [
    {
      id: "p_1",
      impact: { offeringId: "tree", amount: 1 },
      details: [nothing],
      recipient: { email: "ada@example.org", firstName: "Ada", name: null },
    },
  ],
  ...changes,
});
