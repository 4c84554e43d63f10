/**
 * Reads rows of HTTP requests and expected answers (see `tests/fixtures/README.md`), and sends the requests.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

/** Returns the request of a row, ready to send. @returns {Request} */
export function requestOf({ request }, names) {
  const { method, path, key, headers = {}, chunked } = request;
  const all = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(request.json !== undefined && { "content-type": "application/json" }),
    ...Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillText(value, names)]),
    ),
  };
  return {
    method,
    path: fillText(path, names),
    headers: all,
    body: bodyOf(request, names),
    chunked,
  };
}

function bodyOf({ json, text, hex, repeat }, names) {
  if (repeat)
    return (repeat.before ?? "") + repeat.text.repeat(repeat.times) + (repeat.after ?? "");
  if (hex !== undefined) return Buffer.from(hex, "hex");
  return json === undefined ? text : JSON.stringify(fill(json, names));
}

/** Replaces `{name}` placeholders by captured values. */
export function fill(value, names) {
  if (typeof value === "string") {
    const [, name] = value.match(/^\{(\w+)\}$/) ?? [];
    return name in names ? names[name] : fillText(value, names);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, names));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, fill(member, names)]),
  );
}

function fillText(text, names) {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) =>
    typeof names[name] === "string" ? names[name] : whole,
  );
}

/** Reads from an answer the values that a row names in `capture`, and adds them to `names`. */
export function capture({ capture = {} }, text, names) {
  for (const [name, what] of Object.entries(capture)) {
    names[name] =
      typeof what === "string"
        ? part(text, what)
        : part(text, what.at).match(new RegExp(what.match))[1];
  }
}

function part(text, at) {
  if (at === "$text") return text;
  const steps = at.split("/").slice(1);
  return steps.reduce((value, step) => value[step], JSON.parse(text));
}

/**
 * Asserts that an answer is the one that its row expects, and that it follows the rules for all answers.
 */
export function assertAnswer(row, answer, names) {
  const { status, headers = {}, json, text } = row.response;
  assert.equal(answer.status, status, answer.text.slice(0, 300));
  capture(row, answer.text, names);
  always(row.request, answer);
  for (const [name, expected] of Object.entries(headers))
    compare(fill(expected, names), answer.headers[name] ?? null, name);
  if (json !== undefined) compare(fill(json, names), JSON.parse(answer.text), "body");
  if (text !== undefined) compare(fill(text, names), answer.text, "body");
}

function always({ method }, { status, headers, text }) {
  assert.match(headers["cache-control"], /^(no-store|public, max-age=3600)$/); // rows say which are public
  assert.match(headers["x-request-id"], /^[\w-]{16,64}$/);
  if (status !== 204) assert.equal(headers["x-content-type-options"], "nosniff");
  if (text.startsWith("{")) assert.equal(headers["content-type"], "application/json");
  if (method === "HEAD") assert.equal(text, "");
}

const MATCHERS = {
  $any: () => true,
  $match: (expression, seen) => typeof seen === "string" && new RegExp(expression).test(seen),
  $lacks: (lacking, seen) => typeof seen === "string" && !seen.includes(lacking),
};

function compare(expected, seen, place) {
  const [[name, argument] = []] =
    expected && typeof expected === "object" ? Object.entries(expected) : [];
  if (name?.startsWith("$"))
    return assert.ok(
      MATCHERS[name](argument, seen),
      `${place}: ${JSON.stringify(seen)?.slice(0, 600)} is not ${JSON.stringify(expected)}`,
    );
  if (
    expected === null ||
    typeof expected !== "object" ||
    seen === null ||
    typeof seen !== "object"
  )
    return assert.deepEqual(seen, expected, place);
  assert.deepEqual(Object.keys(seen).sort(), Object.keys(expected).sort(), place);
  assert.equal(Array.isArray(seen), Array.isArray(expected), place);
  for (const member of Object.keys(expected))
    compare(expected[member], seen[member], `${place}/${member}`);
}

// ---- Sending -------------------------------------------------------------------------------------

/**
 * An HTTP request that is ready to send.
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path the path, which is sent exactly as it is written here
 * @property {Record<string, string>} [headers]
 * @property {Uint8Array | string} [body]
 * @property {boolean} [chunked] whether the body is sent in chunks, without stating its length
 */

const agent = new Agent({ keepAlive: true, maxSockets: 50 });

/**
 * Closes idle connections. Otherwise, the server could close a connection at the moment when a request uses
 * it again, and that request would fail.
 */
export const closeIdleConnections = () => agent.destroy();

/**
 * Sends one request. Does not follow redirects, store cookies or decode encodings.
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
  request.on("error", () => {}); // `answered` has it, unless a server that has answered closes the connection while the body is sent
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
