/** Opens the records for the MCP server, and lets its calls read but not write. */
import { setTimeout as sleep } from "node:timers/promises";
import { changes } from "./atomic.mjs";
import { openKv } from "./kv.mjs";
import { portOf } from "./operator.mjs";

const IDLE_MS = 10_000;

/**
 * Records that several calls use at the same time. They are opened by the first call, and closed some seconds after the last
 * one, so that a server without work holds no local database.
 */
export class SharedRecords {
  #tools;
  #where;
  /** @type {Promise<import("./kv.mjs").Kv> | null} */
  #opened = null;
  /** @type {import("./kv.mjs").Kv | null} */
  #kv = null;
  #users = 0;

  /**
   * @param {import("./places.mjs").OperatorTools} tools
   * @param {Parameters<typeof openKv>[1]} where
   */
  constructor(tools, where) {
    this.#tools = tools;
    this.#where = where;
  }

  /** @template T @param {(kv: import("./kv.mjs").Kv) => Promise<T>} work @returns {Promise<T>} */
  async use(work) {
    this.#users += 1;
    try {
      this.#opened ??= openKv(this.#tools, this.#where).catch((error) => {
        this.#opened = null;
        throw error;
      });
      this.#kv = await this.#opened;
      return await work(this.#kv);
    } finally {
      this.#users -= 1;
      this.#closeWhenIdle();
    }
  }

  async #closeWhenIdle() {
    await sleep(IDLE_MS, undefined, { ref: false });
    if (this.#users === 0) await this.close();
  }

  /** Closes the records. Does not wait for records that are still being opened. */
  async close() {
    const kv = this.#kv;
    this.#opened = null;
    this.#kv = null;
    await kv?.close();
  }
}

/**
 * Returns a port that refuses every write, so that no operation can change a record, whatever the table says about it. After
 * the signal, it refuses reads too: a call that was given up ends at its next one.
 * @param {import("./kv.mjs").Kv} kv
 * @param {AbortSignal} signal
 * @returns {import("./operator.mjs").Port}
 */
export function readOnlyPort(kv, signal) {
  const { list, read, pause, ledger } = portOf(kv);
  const until =
    (work) =>
    async (...args) => {
      signal.throwIfAborted();
      return work(...args);
    };
  const refuse = async () => {
    throw new Error("a tool tried to write: tools only read");
  };
  const run = async (statements) =>
    statements.some(({ sql }) => changes(sql)) ? refuse() : ledger?.run(statements);
  return {
    list: until(list),
    read: until(read),
    pause: until(pause),
    write: refuse,
    remove: refuse,
    keepPicture: refuse,
    ledger: ledger && { run: until(run) },
  };
}
