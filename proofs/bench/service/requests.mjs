/** The requests that the services are loaded with, and whether two services answer them alike. */
import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fullRequest, generator, requestWithProblems } from "../data.mjs";
import { UserError } from "../../../scripts/lib/output.mjs";

const PATH = "/v2/pledge-transaction";
const KEY = "service_sk_test_dev_unit";
const AUTHORIZATION = { authorization: `Bearer ${KEY}` };
const JSON_TYPE = { "content-type": "application/json" };
const STORED = 64;
const TOO_LARGE = 2 * 1024 * 1024 + 1;
const PIECE = Buffer.alloc(64 * 1024, "x");
const UPLOAD_PIECES = 128; // 8 MiB

/**
 * @typedef {{method: string, path: string, headers: Record<string, string>, body?: string}} Request
 * @typedef {object} Kind
 * @property {string} name
 * @property {number} status of every answer
 * @property {number} connections at once
 * @property {Request[]} requests distinct ones
 */

/**
 * Every kind of request for one service. What is read was created there before.
 * @param {string} origin
 * @returns {Promise<Kind[]>}
 */
export async function kindsFor(origin) {
  const random = generator(7);
  const bodies = (count, make) => Array.from({ length: count }, () => JSON.stringify(make()));
  const small = bodies(256, () => fullRequest(random, 1)).map(create);
  const large = bodies(32, () => fullRequest(random, 100)).map(create);
  const unknownKey = (index) => ({ authorization: `Bearer service_sk_test_unknown_${index}` });
  return [
    { name: "POST small", status: 200, connections: 32, requests: small },
    { name: "POST of 100 pledges", status: 200, connections: 16, requests: large },
    {
      name: "GET small",
      status: 200,
      connections: 32,
      requests: (await store(origin, small, STORED)).map(get),
    },
    {
      name: "GET of 100 pledges",
      status: 200,
      connections: 16,
      requests: (await store(origin, large, STORED / 2)).map(get),
    },
    {
      name: "unknown key (401)",
      status: 401,
      connections: 32,
      requests: small.slice(0, 64).map((request, index) => ({
        ...request,
        headers: { ...request.headers, ...unknownKey(index) },
      })),
    },
    {
      name: "invalid (400)",
      status: 400,
      connections: 32,
      requests: bodies(256, () => requestWithProblems(random)).map(create),
    },
    {
      name: "too large (413)",
      status: 413,
      connections: 4,
      requests: [create("x".repeat(TOO_LARGE))],
    },
  ];
}

const create = (body) => ({
  method: "POST",
  path: PATH,
  headers: { ...AUTHORIZATION, ...JSON_TYPE, "content-length": String(Buffer.byteLength(body)) },
  body,
});
const get = (id) => ({ method: "GET", path: `${PATH}/${id}`, headers: AUTHORIZATION });

/** Creates and reads each once, so that KV keeps it. */
async function store(origin, requests, count) {
  const ids = [];
  for (const request of requests.slice(0, count)) {
    const { id } = JSON.parse((await send(origin, request)).text);
    await send(origin, get(id));
    ids.push(id);
  }
  return ids;
}

/** @param {string} origin @param {Request} request */
export async function send(origin, { method, path, headers, body }) {
  const { "content-length": _length, ...own } = headers; // fetch counts for itself
  const response = await fetch(`${origin}${path}`, { method, headers: own, body });
  const answer = {
    status: response.status,
    type: response.headers.get("content-type"),
    cache: response.headers.get("cache-control"),
    isIdentified: response.headers.has("x-request-id"),
    text: await response.text(),
  };
  return answer;
}

/**
 * A body far beyond the limit, from a client that sends it all before it reads: is it answered, or cut off?
 * @param {string} origin
 * @returns {Promise<boolean>}
 */
export function uploadIsAnswered(origin) {
  const length = UPLOAD_PIECES * PIECE.length;
  return new Promise((resolve) => {
    const headers = { ...AUTHORIZATION, ...JSON_TYPE, "content-length": length };
    const request = httpRequest(
      `${origin}${PATH}`,
      { method: "POST", headers, agent: false },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode === 413));
      },
    );
    request.on("error", () => resolve(false));
    Readable.from(Array(UPLOAD_PIECES).fill(PIECE)).pipe(request);
  });
}

/** wrk's input: every request as it goes over the wire. @returns {string} the file */
export function writeRequests(folder, name, requests, origin) {
  const { host } = new URL(origin);
  const pieces = requests.map(({ method, path, headers, body = "" }) => {
    const lines = Object.entries({ host, ...headers }).map(
      ([header, value]) => `${header}: ${value}\r\n`,
    );
    const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
  });
  const file = join(folder, `${name.replaceAll(/\W+/g, "-")}.requests`);
  writeFileSync(file, Buffer.concat(pieces));
  return file;
}

/**
 * Stops unless both answer each kind alike: status, headers, and every member but those that each makes for itself.
 * @param {{name: string, origin: string, kinds: Kind[]}} ours
 * @param {{name: string, origin: string, kinds: Kind[]}} theirs
 */
export async function mustAnswerAlike(ours, theirs) {
  for (const [index, { name, status, requests }] of ours.kinds.entries()) {
    for (const row of [0, requests.length - 1]) {
      const [mine, other] = await Promise.all([
        answerTo(ours, index, row),
        answerTo(theirs, index, row),
      ]);
      if (mine.status !== status)
        throw new UserError(
          `${ours.name} answers ${name} with ${mine.status}, not ${status}: ${mine.text.slice(0, 300)}`,
        );
      if (mine.comparable === other.comparable) continue;
      throw new UserError(
        `${theirs.name} answers ${name} differently:\n${mine.comparable.slice(0, 600)}\n${other.comparable.slice(0, 600)}`,
      );
    }
  }
}

async function answerTo({ origin, kinds }, index, row) {
  const answer = await sendOften(origin, kinds[index].requests[row]);
  const { status, type, cache, isIdentified, text } = answer;
  return {
    ...answer,
    comparable: JSON.stringify(
      { status, type, cache, isIdentified, body: masked(JSON.parse(text)) },
      null,
      1,
    ),
  };
}

/** A Worker that reads no refused body cuts some of the connections off. */
function sendOften(origin, request, left = 5) {
  return send(origin, request).catch((error) =>
    left > 0 ? sendOften(origin, request, left - 1) : Promise.reject(error),
  );
}

const OWN = new Set(["id", "createdAt", "timelineUrl", "message"]);

/** Members in order of name; the values that differ between any two answers by their type. */
function masked(value, name = "") {
  if (OWN.has(name)) return typeof value;
  if (Array.isArray(value)) return value.map((item) => masked(item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((member) => [member, masked(value[member], member)]),
  );
}
