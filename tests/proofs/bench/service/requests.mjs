/** Makes the requests of the load test, and checks that two services give the same answers. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullRequest, generator, requestWithProblems } from "../data.mjs";
import { UserError } from "../../../../scripts/lib/output.mjs";

const PATH = "/v2/pledge-transaction";
/** Returns the name of a transaction's record. */
const recordName = (id) => `transaction:${id}`;
const KEY = "service_sk_test_dev_unit";
const AUTHORIZATION = { authorization: `Bearer ${KEY}` };
const JSON_TYPE = { "content-type": "application/json" };
const TOO_LARGE = 2 * 1024 * 1024 + 1;

/** A past month, and the times at which its orders were created and paid. */
const AGED = { month: "2020-01", createdAt: "2020-01-15T12:00:00.000Z" };
const PAID_AT = "2020-02-05T00:00:00.000Z";

/**
 * @typedef {{method: string, path: string, headers: Record<string, string>, body?: string}} Request
 * @typedef {object} Records the records in the service's KV
 * @property {(name: string) => Promise<{value: string, metadata: any}>} read
 * @property {(entry: {key: string, value: string, metadata?: any}) => Promise<unknown>} write
 * @typedef {{send: (request: Request) => Promise<{status: number, text: string}>, records: Records}} Service
 * @typedef {object} Kind
 * @property {string} name
 * @property {number} status the status of every answer
 * @property {number} connections the number of connections that are open at the same time
 * @property {(service: Service) => Promise<Request[]>} make creates the records that the requests read, and returns
 *   the requests, which are distinct
 */

/** Every kind of request. @type {Kind[]} */
export const KINDS = [
  { name: "POST small", status: 200, connections: 32, make: async () => creates(256, 1) },
  { name: "POST of 100", status: 200, connections: 16, make: async () => creates(32, 100) },
  { name: "GET small", status: 200, connections: 32, make: (to) => gets(to, 64, 1) },
  { name: "GET of 100", status: 200, connections: 16, make: (to) => gets(to, 32, 100) },
  { name: "GET small, paid", status: 200, connections: 32, make: (to) => paidGets(to, 64, 1) },
  { name: "GET of 100, paid", status: 200, connections: 16, make: (to) => paidGets(to, 32, 100) },
  { name: "401", status: 401, connections: 32, make: async () => creates(64, 1).map(ofStranger) },
  { name: "400", status: 400, connections: 32, make: async () => problems(256) },
  { name: "413", status: 413, connections: 4, make: async () => [create("x".repeat(TOO_LARGE))] },
];

/**
 * Parses names of kinds of request, separated by commas, such as `GET small,401`.
 * @param {string} text @returns {Kind[] | null} null if a kind does not exist
 */
export function kindsOf(text) {
  const wanted = text
    .split(/,(?! *paid)/)
    .map((part) => part.trim().toLowerCase().replace(/, */, ", "));
  const chosen = KINDS.filter(({ name }) => wanted.includes(name.toLowerCase()));
  return chosen.length === wanted.length ? chosen : null;
}

const bodies = (count, make) => {
  const random = generator(7);
  return Array.from({ length: count }, () => JSON.stringify(make(random)));
};
/**
 * Returns distinct create requests.
 * @param {number} count @param {number} pledges the number of pledges in each request
 */
export const creates = (count, pledges) =>
  bodies(count, (random) => fullRequest(random, pledges)).map(create);
const problems = (count) => bodies(count, requestWithProblems).map(create);
const ofStranger = (request, index) => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer service_sk_test_unknown_${index}` },
});

/** @returns {Request} */
const create = (body) => ({
  method: "POST",
  path: PATH,
  headers: { ...AUTHORIZATION, ...JSON_TYPE, "content-length": String(Buffer.byteLength(body)) },
  body,
});
/** @returns {Request} */
const get = (id) => ({ method: "GET", path: `${PATH}/${id}`, headers: AUTHORIZATION });

/**
 * Creates transactions in the service, and returns the requests that read them.
 * @param {Service} service
 * @param {number} count the number of transactions
 * @param {number} pledges the number of pledges in each transaction
 */
async function gets(service, count, pledges, prepare = async (_records, _id) => {}, shows = "") {
  const requests = [];
  for (const request of creates(count, pledges)) {
    const { id } = JSON.parse((await service.send(request)).text);
    await prepare(service.records, id);
    const { text } = await service.send(get(id)); // KV in memory keeps records that were read once
    if (!text.includes(shows)) throw new Error(`a get lacks ${shows}: ${text.slice(0, 300)}`);
    requests.push(get(id));
  }
  return requests;
}

/**
 * Returns the records that the service needs to answer these get requests.
 * @param {Records} records @param {Request[]} requests
 */
export async function recordsOf(records, requests) {
  const gets = requests.filter(({ method }) => method === "GET");
  const keys = gets.map(({ path }) => recordName(path.split("/").at(-1)));
  return Promise.all(keys.map(async (key) => ({ key, ...(await records.read(key)) })));
}

/**
 * Lets a Worker that can only read take the place of the service in the benchmark. For a create request, the
 * benchmark itself writes the transaction's record to the Worker's KV. All other requests are sent to the
 * Worker.
 * @param {Service} service @returns {Service}
 */
export function withoutRecords({ send, records }) {
  let last = 0;
  return {
    records,
    send: async (request) => {
      if (request.method === "GET") return { ...(await send(request)), text: PAID_AT }; // any text
      last += 1;
      const id = `ptran_${last}`;
      await records.write({ key: recordName(id), value: request.body ?? "", metadata: {} });
      return { status: 200, text: JSON.stringify({ id }) };
    },
  };
}

const paidGets = (service, count, pledges) => gets(service, count, pledges, pay, PAID_AT);

/** Moves an order to a past month, and marks that month as paid. @param {Records} records */
async function pay(records, id) {
  const key = recordName(id);
  const { value, metadata } = await records.read(key);
  const { month, createdAt } = AGED;
  const summary = { ...metadata.summary, createdAt };
  const aged = value.replace(/"createdAt":"[^"]*"/, `"createdAt":"${createdAt}"`);
  await records.write({ key, value: aged, metadata: { ...metadata, summary } });
  const settlement = { paidAt: PAID_AT, sums: [], invoice: "1", by: "bench", at: PAID_AT };
  await records.write({
    key: `settlement:${metadata.mode}:${metadata.unit}:${month}`,
    value: JSON.stringify(settlement),
  });
}

/** @param {string} origin @param {Request} request */
export async function send(origin, { method, path, headers, body }) {
  const { "content-length": _length, ...own } = headers; // fetch computes it
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
 * Writes the input of the load generator wrk: every request as it is sent over the network.
 * @returns {string} the file
 */
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
 * Throws unless both services give the same answer to a request of this kind. Compares the status, the
 * headers, and all members except those that each service generates itself.
 * @param {Kind} kind
 * @param {{name: string, origin: string, request: Request}} ours
 * @param {{name: string, origin: string, request: Request}} theirs the other service, with a request of its
 *   own: the two services have records with different names
 */
export async function mustAnswerAlike({ name, status }, ours, theirs) {
  const [mine, other] = await Promise.all(
    [ours, theirs].map(({ origin, request }) => sendOften(origin, request)),
  );
  const shown = [mine, other].map(comparable);
  if (mine.status === status && shown[0] === shown[1]) return;
  throw new UserError(
    `${theirs.name} answers ${name} differently, or ${ours.name} not with ${status}:\n${shown.join("\n")}`,
  );
}

const comparable = ({ text, ...head }) =>
  JSON.stringify({ ...head, body: masked(JSON.parse(text)) }, null, 1).slice(0, 600);

/**
 * Sends a request, and repeats it up to five times if it fails. A Worker that does not read the bodies of
 * refused requests cuts off some connections.
 */
function sendOften(origin, request, left = 5) {
  return send(origin, request).catch((error) =>
    left > 0 ? sendOften(origin, request, left - 1) : Promise.reject(error),
  );
}

const OWN = new Set(["id", "createdAt", "timelineUrl", "message"]);

/**
 * Sorts an answer's members by name. Replaces values that differ in every answer, such as IDs and times, by
 * their type.
 */
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
