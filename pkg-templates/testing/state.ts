/* The state of a test service between two resets: clock, randomness, store, faults, recorded requests, and service instances. */
import { coder } from "../platform.ts";
import { type Body, newBody } from "./body.ts";
import { newClock } from "./clock.ts";
import type { Incoming, Served } from "./exchange.ts";
import { type Isolate, startIsolate } from "./isolate.ts";
import { newLog } from "./log.ts";
import { newRandom } from "./random.ts";
import { OUTLETS, type Queue, newNotifications, newQueue } from "./notifications.ts";
import type { faultOptions, serviceOptions } from "./options.ts";
import { type Failing, type Store, newStore } from "./store.ts";

const CREATE = "/v2/pledge-transaction";

type Answer = Pick<Served, "status" | "headers" | "body">;
/** Stands for the response if a request never gets one. */
interface Silence {
  readonly status: null;
  readonly headers?: undefined;
  readonly body?: undefined;
}

type Fault = ReturnType<typeof faultOptions>;
type Operation = NonNullable<Fault["operation"]>;

export function newState({
  keys,
  catalogue,
  now,
  seed,
  allowedOrigins = [],
  publicOrigin,
}: ReturnType<typeof serviceOptions>) {
  const clock = newClock(now),
    platform = { clock, random: newRandom(seed) };
  const store = newStore(keys, catalogue),
    log = newLog(store.labelOf),
    faults: Fault[] = [];
  const settings = {
    ...OUTLETS,
    ALLOWED_ORIGINS: allowedOrigins.join(),
    PUBLIC_ORIGIN: publicOrigin,
  };
  const newIsolate = () => startIsolate(platform);
  const notifications = newNotifications(newIsolate, store, clock);
  // An isolate keeps the settings of its first request.
  const isolates: { network?: Isolate; fetch?: Isolate } = {};
  let named = 0;

  function newId(): string {
    named += 1;
    return `request-${String(named).padStart(12, "0")}`;
  }

  /**
   * Serves a request with an instance of the Worker and a store.
   * @param failing the calls of the store that fail
   * @param queue the queue of notifications. Default: none, so that a create asks for no notification
   */
  async function served(
    { url, method, headers, isFromNetwork }: Incoming,
    body: Body,
    run: Isolate,
    from: Store,
    failing?: Failing,
    queue?: Queue,
  ): Promise<Answer> {
    const env = {
      ...settings,
      ALLOW_PLAIN_HTTP: isFromNetwork ? "true" : undefined,
      PLEDGES: from.bind(tokenOf(headers), failing),
      NOTIFICATIONS: queue,
    };
    const stream = /^(GET|HEAD)$/.test(method) ? null : body.stream;
    const sent = { method, url, headers, body: stream, arrayBuffer: body.arrayBuffer };
    const id = newId();
    const answer = await run.serve(sent, env, id);
    answer.headers.set("x-request-id", id);
    return answer;
  }

  /**
   * Returns an error response with this status. First asks a new instance of the Worker for such a response.
   * If the instance responds with another status, returns a generic response.
   */
  async function failed(
    { status, headers = {} }: Pick<Fault, "headers"> & { readonly status: number },
    request: Incoming,
    body: Body,
  ): Promise<Answer> {
    const from = {
      401: [newStore([], catalogue)],
      404: [newStore(keys, catalogue)],
      503: [store, { readFails: true }],
    }[status] as [Store, Failing?] | undefined;
    const own = from && (await served(request, body, newIsolate(), ...from));
    const answer = own?.status === status ? own : plain(status);
    return { ...answer, headers: new Map([...answer.headers, ...Object.entries(headers)]) };
  }

  async function answerTo(
    request: Incoming,
    body: Body,
    { status, fault, ...others }: Partial<Fault> = {},
  ): Promise<Answer | Silence> {
    if (fault === "timeout") return { status: null };
    if (status) return failed({ status, ...others }, request, body);
    const place = request.isFromNetwork ? "network" : "fetch";
    isolates[place] ??= newIsolate();
    const queue = newQueue();
    const answer = await served(
      request,
      body,
      isolates[place],
      store,
      { writeFails: fault === "lost write" },
      queue,
    );
    await notifications.deliver(queue.messages, publicOrigin ?? new URL(request.url).origin);
    return answer;
  }

  function takeFault(operation: Operation | undefined): Fault | undefined {
    const fault = operation && faults.find((one) => !one.operation || one.operation === operation);
    if (!fault) return undefined;
    fault.times -= 1;
    if (fault.times === 0) faults.splice(faults.indexOf(fault), 1);
    return fault;
  }

  return {
    clock,
    faults,
    transactions: store.transactions,
    emails: notifications.emails,
    messages: notifications.messages,
    requests: log.requests,
    received: log.received,

    /** Serves a request. If the fault is `timeout`, the returned promise never settles. */
    async serve(request: Incoming): Promise<Served> {
      const body = newBody(request.next),
        entry = log.add(request, body),
        fault = takeFault(operationOf(request));
      const answer = await answerTo(request, body, fault);
      if (request.isWhole || fault) await body.finish();
      if (!answer.headers?.has("x-request-id")) answer.headers?.set("x-request-id", newId());
      log.end(entry, answer.status);
      if (fault?.fault === "timeout") await new Promise(() => {});
      if (fault?.fault === "slow")
        await new Promise<void>((resolve) => clock.setTimeout(resolve, fault.delayMs!));
      return {
        status: answer.status,
        headers: answer.headers,
        body: answer.body,
        isLost: fault?.fault === "lost answer",
        isCut: body.isCut(),
      } as Served;
    },
  };
}

/**
 * Returns the API key of the header `Authorization: Bearer KEY`. Does not check the header: the service reads
 * the store only after it has checked the header itself.
 */
const tokenOf = (headers: Incoming["headers"]) =>
  headers.get("authorization")?.trim().split(/ +/)[1];

function operationOf({ method, url }: Incoming): Operation | undefined {
  const { pathname } = new URL(url);
  if (method === "OPTIONS") return undefined;
  if (pathname === CREATE) return "create";
  if (pathname.startsWith(`${CREATE}/`)) return "get";
  return pathname.startsWith("/timeline") ? "timeline" : undefined;
}

const plain = (status: number): Answer => ({
  status,
  headers: new Map<string, string>([
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
    ...(status === 429 ? [["retry-after", "1"] as const] : []),
  ]),
  body: coder("TextEncoder").encode(
    JSON.stringify({ error: `Status ${status}`, message: "The test service was made to fail." }),
  ),
});
