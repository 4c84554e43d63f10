/**
 * Plays a mix of requests against the shipped Worker on workerd while KV fails and workerd is
 * killed, and keeps what happened.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Server, bundle } from "../bench/service/workerd.mjs";
import { seedData } from "../../scripts/lib/seed.mjs";
import { memoryOf } from "../../tests/server/workerd.mjs";
import { Client } from "./client.mjs";
import { FaultyKv } from "./kv.mjs";
import { Mix } from "./mix.mjs";
import { parsed } from "./oracle.mjs";

const SAMPLE_MS = 1_000;
const CROWD = 64;

/**
 * @typedef {Record<string, number | null>} Memory in bytes, by what holds it; see {@link memoryOf}
 *
 * @typedef {object} Exchange an ask, when it was sent, and what came of it
 * @property {import("./mix.mjs").Ask} ask
 * @property {number} begun
 * @property {number} ended
 * @property {import("./client.mjs").Outcome} outcome
 *
 * @typedef {object} History
 * @property {Exchange[]} exchanges in the order in which they ended
 * @property {{begun: number, ended: number}[]} kills from the signal until the next workerd listens
 * @property {import("./kv.mjs").Write[]} writes
 * @property {Map<number, string[]>} faults by the number of the request
 * @property {{idle: Memory, peak: Memory}} [memory]
 */

/** A Worker that is killed and started anew, over a KV that stays. */
class Service {
  /** @type {{begun: number, ended: number}[]} */
  kills = [];
  /** @type {{idle: Memory, peak: Memory}} */
  memory = { idle: {}, peak: {} };

  static async start(tools, { seed, share }) {
    const folder = mkdtempSync(join(tmpdir(), "impact-pledge-faults-"));
    const kv = await FaultyKv.start({ seed, share });
    const main = join(tools.root, "tests", "faults", "worker.mjs");
    const worker = await bundle(tools, { main, folder, kv: kv.address });
    const service = new Service({ folder, kv, launch: () => launch(tools, worker) });
    const server = await service.ready;
    await server.seed((await seedData(tools)).entries);
    service.memory.idle = await memoryOf(server);
    return service;
  }

  /** @param {{folder: string, kv: FaultyKv, launch: () => Promise<Server>}} parts `launch` starts workerd */
  constructor({ folder, kv, launch }) {
    this.folder = folder;
    this.kv = kv;
    this.launch = launch;
    this.ready = launch();
  }

  /** Ends workerd, which is one process, as `kill -9` does, and starts the next one. */
  kill() {
    this.ready = this.ready.then((server) => this.#replace(server));
    return this.ready;
  }

  /** @param {any} server */
  async #replace({ child, kill }) {
    const killed = { begun: Date.now(), ended: Infinity };
    this.kills.push(killed);
    const gone = once(child, "exit");
    kill();
    await gone;
    process.off("exit", kill);
    const next = await this.launch();
    killed.ended = Date.now();
    return next;
  }

  /** Keeps the greatest of what the Worker holds; a killed one has no answer. */
  async sample() {
    const { peak } = this.memory;
    const now = await memoryOf(await this.ready).catch(() => ({}));
    for (const [name, bytes] of Object.entries(now))
      peak[name] = Math.max(bytes ?? 0, peak[name] ?? 0);
  }

  async close() {
    await (await this.ready).end();
    this.kv.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const launch = (tools, worker) => Server.start(tools, worker, { inspected: true });

/**
 * @param {import("../../scripts/lib/tools.mjs").Tools} tools
 * @param {{requests: number, connections: number, seed: number, share: number, kills: number, traps: number, crowds: number, repeats: number, progress?: (done: number) => void}} plan `share` of KV's calls fails; `repeats`: of creates, at the end
 * @returns {Promise<History>}
 */
export async function play(
  tools,
  { requests, connections, seed, share, kills, traps, crowds, repeats, progress = () => {} },
) {
  const service = await Service.start(tools, { seed, share });
  const killsAt = new Set(evenly(requests, kills));
  /** @type {Map<number, string>} */
  const special = new Map();
  for (const first of evenly(requests, crowds, 0.3))
    for (let index = 0; index < CROWD; index += 1) special.set(first + index, "crowd");
  for (const at of evenly(requests, traps, 0.9)) special.set(at, "trap");
  const mix = new Mix({ seed, special });
  const client = new Client(connections);
  const exchanges = [];

  async function exchange(ask) {
    const { origin } = await service.ready;
    const begun = Date.now();
    const outcome = await client.send(origin, ask);
    exchanges.push({ ask: without(ask), begun, ended: Date.now(), outcome });
    const json = outcome.status === 200 && ask.payload && parsed(outcome.text);
    if (json?.timelineUrl) mix.acknowledge(ask, json);
  }

  function* asks() {
    for (let number = 1; number <= requests; number += 1) {
      if (killsAt.has(number)) service.kill().catch(() => {}); // `ready` is rejected, too
      if (number % 1_000 === 0) progress(number);
      yield mix.next(number);
    }
  }

  const sampling = sampleUntil(service);
  try {
    await atATime(connections, asks(), exchange);
    await service.kv.stopFaults();
    await sampling.stop();
    client.close();
    await service.kill(); // what is read from now on is in no isolate's cache
    await atATime(connections, mix.repeats(requests + 1, repeats), exchange);
    await atATime(connections, mix.reads(2 * requests), exchange);
    const { memory, kv } = service;
    return { exchanges, kills: service.kills, memory, writes: kv.writes, faults: kv.faults };
  } finally {
    await sampling.stop();
    client.close();
    await service.close();
  }
}

/** Whole numbers that divide a range into equal parts. */
const evenly = (length, count, shift = 0.5) =>
  Array.from({ length: count }, (_, index) => Math.ceil(((index + shift) * length) / count));

/** The bytes are known from the payload. */
const without = ({ body, headers, ...ask }) => ask;

/** Works on all items, so many at a time. */
export async function atATime(count, items, work) {
  const one = async () => {
    for (const item of items) await work(item);
  };
  await Promise.all(Array.from({ length: count }, one));
}

function sampleUntil(service) {
  const stop = new AbortController();
  const sampling = (async () => {
    while (!stop.signal.aborted) {
      await service.sample();
      await sleep(SAMPLE_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  return {
    stop() {
      stop.abort();
      return sampling;
    },
  };
}
