/**
 * Sends a mix of requests to the shipped Worker on workerd, while KV fails and workerd is killed. Records
 * what happened.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Server, bundle } from "../bench/service/workerd.mjs";
import { seedData } from "../../../scripts/lib/seed.mjs";
import { memoryOf } from "../../server/workerd.mjs";
import { Client } from "./client.mjs";
import { FaultyKv } from "./kv.mjs";
import { Mix } from "./mix.mjs";
import { parsed } from "./oracle.mjs";

const SAMPLE_MS = 1_000;
const CROWD = 64;

/**
 * @typedef {Record<string, number | null>} Memory numbers of bytes, by kind of memory; see {@link memoryOf}
 *
 * @typedef {object} Exchange a request, when it was sent, and its outcome
 * @property {import("./mix.mjs").Ask} ask
 * @property {number} begun
 * @property {number} ended
 * @property {import("./client.mjs").Outcome} outcome
 *
 * @typedef {object} History
 * @property {Exchange[]} exchanges in the order in which they ended
 * @property {{begun: number, ended: number}[]} kills for each kill, when the signal was sent and when the next workerd listened
 * @property {import("./kv.mjs").Write[]} writes
 * @property {Map<number, string[]>} faults the faults of each request, by the request's number
 * @property {{idle: Memory, peak: Memory}} memory
 *
 * @typedef {object} Plan
 * @property {number} requests the number of requests
 * @property {number} connections how many connections are open at a time
 * @property {number} seed decides what is requested and what fails
 * @property {number} share the share of KV calls that fail
 * @property {number} hangMs after how many milliseconds KV cuts a connection that hangs
 * @property {number} kills how often workerd is killed
 * @property {number} traps how often the service is made to panic
 * @property {number} crowds how often 64 bodies of 1 MiB are sent at once
 * @property {number} repeats how many create requests are repeated at the end
 * @property {(done: number) => void} [progress]
 */

/** A Worker that is killed and restarted, over a KV that persists. */
class Service {
  /** @type {{begun: number, ended: number}[]} */
  kills = [];
  /** @type {{idle: Memory, peak: Memory}} */
  memory = { idle: {}, peak: {} };
  #sampling = new AbortController();
  #sampled = Promise.resolve();
  #closeKv = async () => {};
  /** The Worker as wrangler bundled it. @type {any} */
  #bundle;

  /** @param {import("../../../scripts/setup/tools.mjs").Tools} tools @param {Plan} plan */
  constructor(tools, plan) {
    this.tools = tools;
    this.kv = new FaultyKv(plan);
    this.folder = mkdtempSync(join(tmpdir(), "impact-pledge-faults-"));
    this.ready = this.#start();
  }

  async #start() {
    const { origin, close } = await this.kv.listen();
    this.#closeKv = close;
    const main = join(import.meta.dirname, "worker.mjs");
    const place = { main, folder: this.folder, kv: new URL(origin).host };
    this.#bundle = await bundle(this.tools, place);
    const server = await this.#launch();
    await server.seed((await seedData(this.tools)).entries);
    this.memory.idle = await memoryOf(server);
    this.#sampled = this.#sample();
    return server;
  }

  #launch = () => Server.start(this.tools, this.#bundle, { inspected: true });

  /** Kills workerd's only process with `kill -9`, and starts a new one. */
  kill() {
    this.ready = this.ready.then((server) => this.#replace(server));
    return this.ready;
  }

  /** @param {Server} server */
  async #replace({ child, kill }) {
    const killed = { begun: Date.now(), ended: Infinity };
    this.kills.push(killed);
    const gone = once(child, "exit");
    kill();
    await gone;
    process.off("exit", kill);
    const next = await this.#launch();
    killed.ended = Date.now();
    return next;
  }

  /**
   * Samples the memory of the Worker repeatedly, and records the maximum. Skips the samples that a killed
   * Worker does not answer.
   */
  async #sample() {
    const { peak } = this.memory;
    const { signal } = this.#sampling;
    while (!signal.aborted) {
      const now = await memoryOf(await this.ready).catch(() => ({}));
      for (const [name, bytes] of Object.entries(now))
        peak[name] = Math.max(bytes ?? 0, peak[name] ?? 0);
      await sleep(SAMPLE_MS, undefined, { signal }).catch(() => {});
    }
  }

  async stopSampling() {
    this.#sampling.abort();
    await this.#sampled;
  }

  async close() {
    await this.stopSampling();
    await this.ready.then(
      (server) => server.end(),
      () => {}, // it did not start, which was reported already
    );
    await this.#closeKv();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 * @param {Plan} plan
 * @returns {Promise<History>}
 */
export async function play(tools, plan) {
  const { requests, connections, seed, repeats, progress = () => {} } = plan;
  const service = new Service(tools, plan);
  const killsAt = new Set(evenly(requests, plan.kills));
  const mix = new Mix({ seed, special: specialOf(plan) });
  const client = new Client(connections);
  const exchanges = [];

  async function exchange(ask) {
    const { origin } = await service.ready;
    const begun = Date.now();
    const outcome = await client.send(origin, ask);
    const { body: _, headers: _headers, ...kept } = ask; // they can be derived from the payload
    exchanges.push({ ask: kept, begun, ended: Date.now(), outcome });
    const json = outcome.status === 200 && ask.payload && parsed(outcome.text);
    if (json?.id) mix.acknowledge(ask, json.id);
  }

  function* asks() {
    for (let number = 1; number <= requests; number += 1) {
      if (killsAt.has(number)) service.kill().catch(() => {}); // `ready` is rejected, too
      progress(number);
      yield mix.next(number);
    }
  }

  try {
    await service.ready;
    await atATime(connections, asks(), exchange);
    await service.kv.stopFaults();
    await service.stopSampling();
    client.close();
    await service.kill(); // from now on no isolate has a cached record
    await atATime(connections, mix.repeats(requests + 1, repeats), exchange);
    await atATime(connections, mix.reads(2 * requests), exchange);
    const { kills, memory, kv } = service;
    return { exchanges, kills, memory, writes: kv.writes, faults: kv.faults };
  } finally {
    client.close();
    await service.close();
  }
}

/** @param {Plan} plan */
function specialOf({ requests, traps, crowds }) {
  const special = new Map(evenly(requests, traps, 0.9).map((at) => [at, "trap"]));
  for (const first of evenly(requests, crowds, 0.3))
    for (let index = 0; index < CROWD; index += 1) special.set(first + index, "crowd");
  return special;
}

/** Returns `count` evenly spaced whole numbers between 0 and `length`. */
const evenly = (length, count, shift = 0.5) =>
  Array.from({ length: count }, (_, index) => Math.ceil(((index + shift) * length) / count));

/** Processes all items, at most `count` at a time. */
async function atATime(count, items, work) {
  const one = async () => {
    for (const item of items) await work(item);
  };
  await Promise.all(Array.from({ length: count }, one));
}
