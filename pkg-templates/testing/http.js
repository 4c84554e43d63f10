/** How requests come in: by `fetch`, and by Node's `http`. */
import { coder } from "../platform.js";
import { once } from "./body.js";

export const BASE_URL = "https://pledge.test";

/** @typedef {(request: import("./state.js").Incoming) => Promise<{status: number, headers: Map<string, string>, body?: Uint8Array, isLost: boolean, isCut: boolean}>} Serve */

/** @param {Serve} serve */
export function newFetch(serve) {
  return async (input, init) => {
    const answer = await abortable(init?.signal ?? input?.signal, async () =>
      serve(await incoming(input, init ?? {})),
    );
    if (answer.isLost)
      throw new TypeError("fetch failed", { cause: new Error("the test service lost the answer") });
    return responseOf(answer);
  };
}

/** @param {Serve} serve for `http.createServer` of Node */
export function newHandler(serve) {
  return (request, response) => {
    const headers = joinedHeaders(request.rawHeaders),
      pieces = request[Symbol.asyncIterator]();
    const address = `http${request.socket?.encrypted ? "s" : ""}://${headers.get("host")}${request.url}`;
    if (!URL.canParse(address)) return void response.writeHead(400, { connection: "close" }).end();
    const next = async () => (await pieces.next()).value;
    serve({
      method: request.method,
      url: new URL(address).href,
      headers,
      next,
      isWhole: false,
    }).then(
      (answer) => send(answer, request, response),
      () => response.destroy(), // the caller's connection broke, or the service did
    );
  };
}

/** Names and values in turn, as they came: Node's own object leaves out some that came twice. */
function joinedHeaders(raw) {
  const headers = new Map();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i].toLowerCase();
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${raw[i + 1]}` : raw[i + 1]);
  }
  return headers;
}

function send({ status, headers, body, isLost, isCut }, request, response) {
  if (isLost) return response.destroy();
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  if (isCut) response.shouldKeepAlive = false; // it is still being sent, and nobody reads it any more
  response.end(body, () => isCut && request.destroy());
}

/** As the platform's `fetch` reads its arguments. */
async function incoming(input, init) {
  const isRequest = typeof input?.url === "string",
    url = new URL(isRequest ? input.url : input, BASE_URL).href;
  if (!globalThis.Request)
    return known(
      url,
      init.method,
      Object.entries(init.headers ?? {}),
      coder("TextEncoder").encode(init.body ?? ""),
    );
  const request = new Request(isRequest ? input : url, { ...init, signal: undefined }); // a signal of another realm is refused
  if (typeof init.body?.getReader !== "function")
    return known(url, request.method, request.headers, new Uint8Array(await request.arrayBuffer()));
  const reader = request.body.getReader();
  return {
    method: request.method,
    url,
    headers: lowerCase(request.headers),
    next: async () => (await reader.read()).value,
    isWhole: false,
  };
}

/** A request whose body is there as a whole, with the length that a connection would announce. */
function known(url, method = "GET", headers, bytes) {
  const all = lowerCase(headers);
  if (bytes.length > 0 || method === "POST") all.set("content-length", `${bytes.length}`);
  return { method, url, headers: all, next: once(bytes), isWhole: true };
}

const lowerCase = (headers) =>
  new Map([...headers].map(([name, value]) => [name.toLowerCase(), String(value)]));

/** Where there is no `Response`, as in jsdom, what `PledgeClient` needs of one. */
function responseOf({ status, headers, body }) {
  if (globalThis.Response)
    return new Response(status === 204 ? null : body, { status, headers: [...headers] });
  return {
    status,
    ok: status < 300,
    headers: new Map(headers),
    arrayBuffer: async () => body ?? new Uint8Array(),
  };
}

/** What `work` comes to, or the signal's reason, whichever is first. */
function abortable(signal, work) {
  if (!signal) return work();
  return new Promise((resolve, reject) => {
    const aborted = () =>
      reject(signal.reason ?? new DOMException("This operation was aborted", "AbortError"));
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted);
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", aborted));
  });
}
