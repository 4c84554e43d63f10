/** The local runtime: miniflare with the records and the ledger of a folder, stored as `wrangler dev` stores them. */
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LOCAL_BUCKETS } from "./bucket.mjs";
import { locked } from "./cache.mjs";
import { miniflare } from "./cloudflare-packages.mjs";
import { UserError } from "./output.mjs";
import { LOCKED, retried } from "./retried.mjs";

const CLOSE_MS = 2_000; // of a runtime's end
const CONCURRENT = 20; // writes
const WORKER = readFileSync(join(import.meta.dirname, "local-worker.mjs"), "utf8");

/**
 * Returns the folder of the local state, as `wrangler dev` uses it with `--persist-to`.
 * @param {string} root of the clone
 * @param {string} [persistTo]
 */
export const stateFolder = (root, persistTo = ".wrangler/state") => resolve(root, persistTo);

/**
 * `ask` calls a function of {@link file://./local-worker.mjs} by its name, with one argument; each call has a
 * deadline.
 * @typedef {{ask: (act: string, asked: unknown, purpose: string) => Promise<any>, close: () => Promise<void>}} Runtime
 */

/**
 * Starts a local runtime on a folder. A lock makes sure that processes start runtimes there one after the
 * other. A runtime that ends may still lock a database for a moment; then the start is repeated.
 * @param {string} folder of the local state
 * @param {number} deadline of the start and of each call, in milliseconds
 * @param {typeof startOnce} [once] makes one attempt
 * @returns {Promise<Runtime>}
 */
export const startRuntime = (folder, deadline, once = startOnce) =>
  locked(folder, () => retried(LOCKED, () => once(folder, deadline)));

/** Starts a local runtime, as {@link startRuntime} does, with one attempt. @param {string} folder @param {number} deadline */
export async function startOnce(folder, deadline) {
  const { Miniflare } = miniflare();
  return start(new Miniflare(stateOf(folder)), deadline);
}

/**
 * Waits for a runtime's first answer. The runtime has then created the folder's databases. If two runtimes
 * created them at the same time, both would fail.
 * @param {import("miniflare").Miniflare} runtime
 * @param {number} deadline
 * @returns {Promise<Runtime>}
 */
async function start(runtime, deadline) {
  const close = () => within(CLOSE_MS, "local KV can't stop", runtime.dispose()).catch(() => {}); // the end of the process stops it
  const send = async (act, asked) => {
    const body = JSON.stringify(asked);
    const response = await runtime.dispatchFetch(`http://local/${act}`, { method: "POST", body });
    const answer = await response.json();
    if (!response.ok) throw new Error(String(answer));
    return answer;
  };
  const ask = (act, asked, purpose) => within(deadline, purpose, send(act, asked));
  await ask("read", ["PLEDGES"], "local KV can't start").catch(async (error) => {
    await close();
    throw error;
  });
  return { ask, close };
}

/**
 * Returns the configuration of a Worker that uses the namespace, the database and the buckets in this folder. `wrangler dev`
 * stores the data of a binding without an `id` under the binding's name.
 */
const stateOf = (folder) => ({
  cf: false, // otherwise it asks Cloudflare for the location of this machine
  resourcePersistencePath: join(folder, "v3"),
  workers: [
    {
      config: {
        name: "operator",
        compatibilityDate: "2026-10-01",
        manifest: {
          mainModule: "worker.mjs",
          modulesRoot: folder,
          modules: { "worker.mjs": { type: /** @type {const} */ ("esm"), contents: WORKER } },
        },
        env: {
          PLEDGES: { type: /** @type {const} */ ("kv"), id: "PLEDGES" },
          LEDGER_DB: { type: /** @type {const} */ ("d1"), id: "LEDGER_DB" },
          ...Object.fromEntries(
            Object.entries(LOCAL_BUCKETS).map(([binding, name]) => [
              binding,
              { type: /** @type {const} */ ("r2"), name },
            ]),
          ),
        },
        exports: {},
      },
      dev: {},
    },
  ],
});

/** Gives {@link import("./kv.mjs").Kv} access to the records of a local runtime. */
export class LocalPort {
  #runtime;

  /** @param {Runtime} runtime */
  constructor(runtime) {
    this.#runtime = runtime;
    this.close = runtime.close;
  }

  user = async () => userInfo().username;

  #ask = (act, asked, purpose) =>
    retried(LOCKED, () => this.#runtime.ask(act, asked, `local KV can't ${purpose}`));

  async list(prefix, cursor) {
    const {
      keys,
      list_complete,
      cursor: next,
    } = await this.#ask("list", { prefix, cursor }, "list names");
    return { names: keys, cursor: list_complete ? null : next };
  }

  read = async (names) => new Map(Object.entries(await this.#ask("read", names, "read records")));

  async bytes(name) {
    const base64 = await this.#ask("bytes", name, "read a record");
    return base64 === null ? null : Buffer.from(base64, "base64");
  }

  write = (entries) => this.#each("put", entries, "write a record");
  remove = (names) => this.#each("delete", names, "delete a record");

  async #each(act, items, purpose) {
    const rest = items.values();
    const worker = async () => {
      for (const item of rest) await this.#ask(act, item, purpose);
    };
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
  }
}

/**
 * Waits for a promise until a deadline.
 * @template T
 * @param {number} deadline in milliseconds
 * @param {string} problem for the message, such as `local KV can't list names`
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function within(deadline, problem, promise) {
  const timer = new AbortController();
  const late = sleep(deadline, undefined, { signal: timer.signal }).then(() =>
    Promise.reject(new Error(`no answer within ${deadline / 1000} s`)),
  );
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } catch ({ message }) {
    throw Object.assign(new UserError(`${problem}: ${message}`), {
      status: Number(message.match(/\b413\b/)?.[0]) || undefined,
    });
  } finally {
    timer.abort();
  }
}
