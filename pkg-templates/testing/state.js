/** All that a test service is between two resets: clock, randomness, store, faults, the list of requests, and the compiled service. */
import { coder } from "../platform.js";
import { newBody } from "./body.js";
import { newClock } from "./clock.js";
import { startIsolate } from "./isolate.js";
import { newLog } from "./log.js";
import { newRandom } from "./random.js";
import { newStore } from "./store.js";

const CREATE = "/v2/pledge-transaction";

/** @typedef {{method: string, url: string, headers: Map<string, string>, next: () => Promise<Uint8Array | undefined>, isWhole: boolean}} Incoming */

export function newState({ keys, catalogue, now, seed, allowedOrigins = [], publicOrigin }) {
  const clock = newClock(now),
    platform = { clock, random: newRandom(seed) };
  const store = newStore(keys, catalogue),
    log = newLog(store.labelOf),
    faults = [];
  const settings = { ALLOWED_ORIGINS: allowedOrigins.join(), PUBLIC_ORIGIN: publicOrigin };
  const newIsolate = () => startIsolate(platform);
  let isolate,
    answered = 0;

  /** Serves a request as the Worker does, in this isolate with this store; `failing`: which of the store's calls fail. */
  function served({ url, method, headers }, body, run, from, failing) {
    const env = { ...settings, PLEDGES: from.bind(tokenOf(headers), failing) };
    const stream = /^(GET|HEAD)$/.test(method) ? null : body.stream;
    return run({ method, url, headers, body: stream, arrayBuffer: body.arrayBuffer }, env);
  }

  /** The Worker's own answer of a status, by an instance that has nothing cached; a plain one of what it does not answer. */
  async function failed({ status, headers = {} }, request, body) {
    const from = {
      401: [newStore([], catalogue)],
      404: [newStore(keys, catalogue)],
      503: [store, { readFails: true }],
    }[status];
    const own = from && (await served(request, body, newIsolate(), ...from));
    const answer = own?.status === status ? own : plain(status);
    return { ...answer, headers: new Map([...answer.headers, ...Object.entries(headers)]) };
  }

  function answerTo(request, body, { status, fault, ...others } = {}) {
    if (fault === "timeout") return { status: null };
    if (status) return failed({ status, ...others }, request, body);
    isolate ??= newIsolate();
    return served(request, body, isolate, store, {
      writeFails: fault === "lost write",
    });
  }

  function takeFault(operation) {
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
    requests: log.requests,

    /** @param {Incoming} request @returns its answer, and whether it is lost on its way; never, if the service is made to be silent */
    async serve(request) {
      const body = newBody(request.next),
        entry = log.add(request, body),
        fault = takeFault(operationOf(request));
      const answer = await answerTo(request, body, fault);
      if (request.isWhole || fault) await body.finish();
      answered += 1;
      if (!answer.headers?.has("x-request-id"))
        answer.headers?.set("x-request-id", `request-${String(answered).padStart(12, "0")}`);
      log.end(entry, answer.status);
      if (fault?.fault === "timeout") await new Promise(() => {});
      if (fault?.fault === "slow")
        await new Promise((resolve) => clock.setTimeout(resolve, fault.delayMs));
      return {
        status: answer.status,
        headers: answer.headers,
        body: answer.body,
        isLost: fault?.fault === "lost answer",
        isCut: body.isCut(),
      };
    },
  };
}

/** The key of `Authorization: Bearer KEY`, which the service has found well formed when it asks the store for it. */
const tokenOf = (headers) => headers.get("authorization")?.trim().split(/ +/)[1];

function operationOf({ method, url }) {
  const { pathname } = new URL(url);
  if (method === "OPTIONS") return undefined;
  if (pathname === CREATE) return "create";
  if (pathname.startsWith(`${CREATE}/`)) return "get";
  return pathname.startsWith("/timeline") ? "timeline" : undefined;
}

const plain = (status) => ({
  status,
  headers: new Map([
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
    ...(status === 429 ? [["retry-after", "1"]] : []),
  ]),
  body: coder("TextEncoder").encode(
    JSON.stringify({ error: `Status ${status}`, message: "The test service was made to fail." }),
  ),
});
