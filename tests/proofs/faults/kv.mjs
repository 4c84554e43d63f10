/**
 * Serves Workers KV to workerd from another process, so that its records survive `kill -9`. Calls fail with the
 * faults of `tests/proofs/simulation/kv.rs`, which have the same names there, and are sometimes slow.
 *
 * The KV knows which request makes each call, because `worker.mjs` puts the request's number before each record
 * name. How a call fails depends only on the seed, on this number, and on how many calls the request has made.
 */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { onLoopback } from "../../support/loopback.mjs";
import { Random } from "./mix.mjs";

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
const SLOW_MS = 3_000; // at most; shorter than the service waits
const ONE_WRITE_MS = 1_000; // one write a second for each key, as in Workers KV

/**
 * A write that `FaultyKv` has stored.
 * @typedef {object} Write
 * @property {string} name the record's name, without the request's number
 * @property {number | null} number the number of the request that made the write; null for a write of the
 *   operator
 * @property {number} at when the write was stored, in milliseconds
 * @property {string} value
 */

export class FaultyKv {
  /** All stored writes, in the order of arrival. @type {Write[]} */
  writes = [];
  /** The injected faults, by the number of the request. @type {Map<number, string[]>} */
  faults = new Map();
  #records = new Map();
  #calls = new Map();
  #late = new Set();

  /**
   * Creates a KV whose calls fail as the seed decides.
   * @param {{seed: number, share: number, hangMs: number}} how `share`: the share of the calls that fail;
   *   `hangMs`: the milliseconds until a hanging connection is cut
   */
  constructor({ seed, share, hangMs }) {
    this.seed = seed;
    this.share = share;
    this.hangMs = hangMs;
  }

  listen = () =>
    onLoopback(
      createServer((request, response) =>
        this.#serve(request, response).catch(() => response.destroy()),
      ),
    );

  /** Ends all faults, and waits until the delayed writes are stored. */
  async stopFaults() {
    this.share = 0;
    await Promise.all(this.#late);
  }

  async #serve(request, response) {
    const path = decodeURIComponent(new URL(request.url, "http://kv").pathname.slice(1));
    const [, digits, name = ""] = path.match(/^(?:(\d+) )?(.*)$/s) ?? [];
    const number = digits === undefined ? null : Number(digits);
    if (request.method === "GET") return this.#get(number, name, response);
    const record = { value: await buffer(request), metadata: request.headers[METADATA] };
    return this.#put(number, name, record, response);
  }

  /** Decides whether and how a call fails. Returns the name of the fault, or undefined for none. */
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
    const fault = record || !/Value|Metadata/.test(drawn) ? drawn : undefined; // an absent record cannot be damaged
    this.#injected(number, fault);
    if (fault === "Slow") await this.#slow(number);
    if (fault === "ErrorBefore") return response.writeHead(500).end();
    if (fault === "Hang") return this.#hang(response);
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
    if (fault === "HangingValue") return response.write(half, () => this.#hang(response));
    return response.end(sent);
  }

  async #put(number, name, record, response) {
    const fault = this.#fault(number, WRITE_FAULTS);
    this.#injected(number, fault);
    if (fault === "Slow") await this.#slow(number);
    if (fault === "ErrorBefore") return response.writeHead(500).end();
    if (fault === "HangKept") {
      const late = sleep(new Random(this.seed, number, "late").below(this.hangMs));
      this.#late.add(late.then(() => this.#keep(number, name, record)));
    }
    if (fault?.startsWith("Hang")) return this.#hang(response);
    if (this.#keep(number, name, record))
      return response.writeHead(fault === "ErrorAfter" ? 500 : 200).end();
    this.#injected(number, "RateLimited");
    return response.writeHead(429).end();
  }

  #hang = (response) => void setTimeout(() => response.destroy(), this.hangMs).unref();
  #slow = (number) => sleep(new Random(this.seed, number, "slow").below(SLOW_MS));

  /**
   * Stores a write. Refuses a second write of the same name within a second.
   * @returns {boolean} whether the write was stored
   */
  #keep(number, name, record) {
    const at = Date.now();
    if (at < this.#records.get(name)?.at + ONE_WRITE_MS) return false;
    this.#records.set(name, { ...record, at });
    this.writes.push({ name, number, at, value: record.value.toString() });
    return true;
  }
}
