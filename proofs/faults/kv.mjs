/**
 * Workers KV as a service behind workerd's binding, outside workerd: its records survive `kill -9`. It fails as
 * `proofs/simulation/kv.rs` does, under the same names, and now and then it is slow. A name begins with the number of the
 * request that asks, which `worker.mjs` puts there: it is known whose call each is, and seed, number and count of the
 * request's calls alone decide how it fails.
 */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { onLoopback } from "../../tests/support/loopback.mjs";
import { Random } from "./random.mjs";

const METADATA = "cf-kv-metadata";
const READ_FAULTS = [
  "ErrorBefore",
  "Hang",
  "DamagedValue",
  "DamagedMetadata",
  "BrokenValue",
  "HangingValue",
  "Slow",
];
const WRITE_FAULTS = ["ErrorBefore", "ErrorAfter", "Hang", "HangKept", "Slow"];
const HANG_MS = 20_000; // longer than the service waits
const SLOW_MS = 3_000; // at most: shorter than it waits
const ONE_WRITE_MS = 1_000; // of a key, as Workers KV has it

/**
 * @typedef {object} Write that was kept
 * @property {string} name without the number
 * @property {number | null} number of the request that wrote it; null for the operator's
 * @property {number} at when it was kept
 * @property {string} value
 */

export class FaultyKv {
  /** All in the order of arrival. @type {Write[]} */
  writes = [];
  /** Faults that were injected, by the number of the request. @type {Map<number, string[]>} */
  faults = new Map();
  #records = new Map();
  #calls = new Map();
  #late = new Set();

  /** Where it listens once it is started. */
  address = "";
  close = async () => {};

  /** @param {{seed?: number, share?: number}} how `share` of the calls fails */
  constructor({ seed = 0, share = 0 }) {
    this.seed = seed;
    this.share = share;
  }

  /** @param {ConstructorParameters<typeof FaultyKv>[0]} how */
  static async start(how) {
    const kv = new FaultyKv(how);
    const server = createServer((request, response) =>
      kv.#serve(request, response).catch(() => response.destroy()),
    );
    const { origin, close } = await onLoopback(server);
    kv.address = new URL(origin).host;
    kv.close = close;
    return kv;
  }

  /** No call fails from now on, and nothing is on its way any more. */
  async stopFaults() {
    this.share = 0;
    await Promise.all(this.#late);
  }

  async #serve(request, response) {
    const path = decodeURIComponent(new URL(request.url, "http://kv").pathname.slice(1));
    const [prefix, digits] = path.match(/^(\d+) /) ?? ["", null];
    const name = path.slice(prefix.length);
    const number = digits === null ? null : Number(digits);
    if (request.method === "PUT")
      return this.#put(number, name, await buffer(request), request.headers[METADATA], response);
    return this.#get(number, name, response);
  }

  /** How a call fails, if it does. */
  #fault(number, faults) {
    const call = (this.#calls.get(number) ?? 0) + 1;
    this.#calls.set(number, call);
    const random = new Random(this.seed, number, call);
    return number !== null && random.chance(this.share) ? random.pick(faults) : undefined;
  }

  #injected(number, fault) {
    if (fault) this.faults.set(number, [...(this.faults.get(number) ?? []), fault]);
  }

  async #get(number, name, response) {
    const record = this.#records.get(name);
    const drawn = this.#fault(number, READ_FAULTS);
    const fault = record || !/Value|Metadata/.test(drawn) ? drawn : undefined; // nothing is there to be damaged
    this.#injected(number, fault);
    if (fault === "Slow") await this.#slow(number);
    if (fault === "ErrorBefore") return response.writeHead(500).end();
    if (fault === "Hang") return hang(response);
    if (!record) return response.writeHead(404).end();
    const { value, metadata } =
      fault === "DamagedMetadata" ? { ...record, metadata: '"damaged"' } : record;
    const half = value.subarray(0, value.length / 2);
    const sent = fault === "DamagedValue" ? half : value;
    response.writeHead(200, {
      "content-length": sent.length,
      ...(metadata && { [METADATA]: metadata }),
    });
    if (fault === "BrokenValue") return response.write(half, () => response.destroy());
    if (fault === "HangingValue") return response.write(half, () => hang(response));
    return response.end(sent);
  }

  async #put(number, name, value, metadata, response) {
    const fault = this.#fault(number, WRITE_FAULTS);
    this.#injected(number, fault);
    if (fault === "Slow") await this.#slow(number);
    if (fault === "ErrorBefore") return response.writeHead(500).end();
    if (fault === "HangKept") this.#keepLate(number, name, value, metadata);
    if (fault?.startsWith("Hang")) return hang(response);
    if (this.#keep(number, name, value, metadata))
      return response.writeHead(fault === "ErrorAfter" ? 500 : 200).end();
    this.#injected(number, "RateLimited");
    return response.writeHead(429).end();
  }

  #slow = (number) => sleep(new Random(this.seed, number, "slow").below(SLOW_MS));

  #keepLate(number, name, value, metadata) {
    const arrival = sleep(new Random(this.seed, number, "late").below(HANG_MS)).then(() =>
      this.#keep(number, name, value, metadata),
    );
    this.#late.add(arrival);
  }

  /** @returns {boolean} whether it was kept: a second write within a second is not */
  #keep(number, name, value, metadata) {
    const at = Date.now();
    if (at < this.#records.get(name)?.at + ONE_WRITE_MS) return false;
    this.#records.set(name, { value, metadata, at });
    this.writes.push({ name, number, at, value: value.toString() });
    return true;
  }
}

/** As long as a platform may take to give up. */
const hang = (response) => setTimeout(() => response.destroy(), HANG_MS).unref();
