/* Receives requests from `fetch` and from Node's `http`. */
import { coder } from "../platform.ts";
import { once } from "./body.ts";
import type { Incoming, Served } from "./exchange.ts";
import type { TestService } from "./types.ts";

/**
 * A request of Node, with the members that the handler needs. The package does not import Node's types,
 * because a shop may not have them installed.
 */
type NodeRequest = Parameters<TestService["handler"]>[0] & {
  readonly socket?: { readonly encrypted?: boolean };
  destroy(): unknown;
};
type NodeResponse = Parameters<TestService["handler"]>[1] & {
  shouldKeepAlive: boolean;
  writeHead(status: number, headers: object): NodeResponse;
  end(body?: Uint8Array, ended?: () => unknown): unknown;
};

export const BASE_URL = "https://pledge.test";

/** Serves a request. */
export type Serve = (request: Incoming) => Promise<Served>;

export function newFetch(serve: Serve): TestService["fetch"] {
  return async (input, init) => {
    const answer = await abortable(init?.signal ?? (input as Request)?.signal, async () =>
      serve(await incoming(input, init ?? {})),
    );
    if (answer.isLost)
      throw new TypeError("fetch failed", { cause: new Error("the test service lost the answer") });
    return responseOf(answer);
  };
}

/** Returns a request listener for Node's `http.createServer`. */
export function newHandler(serve: Serve): TestService["handler"] {
  return (request, response) => {
    const headers = joinedHeaders(request.rawHeaders),
      pieces = request[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
    const address = `http${(request as NodeRequest).socket?.encrypted ? "s" : ""}://${headers.get("host")}${request.url}`;
    if (!URL.canParse(address))
      return void (response as NodeResponse).writeHead(400, { connection: "close" }).end();
    const next = async () => (await pieces.next()).value;
    serve({
      method: request.method!,
      url: new URL(address).href,
      headers,
      next,
      isWhole: false,
      isFromNetwork: true,
    }).then(
      (answer) => send(answer, request as NodeRequest, response as NodeResponse),
      () => response.destroy(), // the caller's connection or the service broke
    );
  };
}

/**
 * Joins Node's raw headers, a list of alternating names and values, into a map. Node's own headers object
 * leaves out some duplicates.
 */
function joinedHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${raw[i + 1]}` : raw[i + 1]!);
  }
  return headers;
}

function send(
  { status, headers, body, isLost, isCut }: Served,
  request: NodeRequest,
  response: NodeResponse,
): void {
  if (isLost) {
    response.destroy();
    return;
  }
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  if (isCut) response.shouldKeepAlive = false; // the caller still sends the body, but it is no longer read
  response.end(body, () => isCut && request.destroy());
}

/** Reads the arguments of `fetch` like the platform does. */
async function incoming(input: string | URL | Request, init: RequestInit): Promise<Incoming> {
  const isRequest = typeof (input as Request)?.url === "string",
    url = new URL(isRequest ? (input as Request).url : (input as string | URL), BASE_URL).href;
  if (!globalThis.Request)
    return known(
      url,
      init.method,
      Object.entries(init.headers ?? {}),
      coder("TextEncoder").encode((init.body as string | null | undefined) ?? ""),
    );
  const request = new Request(isRequest ? (input as Request) : url, {
    ...init,
    signal: undefined as never,
  }); // a signal of another realm is refused
  if (typeof (init.body as ReadableStream | null | undefined)?.getReader !== "function")
    return known(url, request.method, request.headers, new Uint8Array(await request.arrayBuffer()));
  const reader = request.body!.getReader();
  return {
    method: request.method,
    url,
    headers: lowerCase(request.headers),
    next: async () => (await reader.read()).value,
    isWhole: false,
  };
}

/** Returns a request with a complete body, and the `content-length` that HTTP would send. */
function known(
  url: string,
  method = "GET",
  headers: Iterable<readonly [string, unknown]>,
  bytes: Uint8Array,
): Incoming {
  const all = lowerCase(headers);
  if (bytes.length > 0 || method === "POST") all.set("content-length", `${bytes.length}`);
  return { method, url, headers: all, next: once(bytes), isWhole: true };
}

const lowerCase = (headers: Iterable<readonly [string, unknown]>) =>
  new Map([...headers].map(([name, value]) => [name.toLowerCase(), String(value)]));

/**
 * Returns a `Response`. Where this class does not exist, as in jsdom, returns an object with the members
 * that `PledgeClient` needs.
 */
function responseOf({ status, headers, body }: Served): Response {
  if (globalThis.Response)
    return new Response(status === 204 ? null : (body as BodyInit), {
      status,
      headers: [...headers],
    });
  return {
    status,
    ok: status < 300,
    headers: new Map(headers),
    arrayBuffer: async () => body ?? new Uint8Array(),
  } as unknown as Response;
}

/** Settles like `work`. If the signal aborts first, rejects with the signal's reason. */
function abortable<T>(signal: AbortSignal | null | undefined, work: () => Promise<T>): Promise<T> {
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
