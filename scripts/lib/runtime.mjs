/** This machine's runtime: one of miniflare's for a folder's records and their ledger, as `wrangler dev` keeps both. */
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { locked } from "./cache.mjs";
import { UserError } from "./output.mjs";

const CLOSE_MS = 2_000; // of a runtime's end
const CONCURRENT = 20; // writes

/** The folder of the local state, as `wrangler dev --persist-to` takes it. @param {string} root of the clone @param {string} [persistTo] */
export const stateFolder = (root, persistTo = ".wrangler/state") => resolve(root, persistTo);

/**
 * `namespace` and `database` are as a Worker has them; the database is made when it is first asked.
 * @typedef {{namespace: any, database: () => Promise<any>, close: () => Promise<void>}} Runtime
 */

/**
 * @param {string} folder of the local state
 * @param {number} deadline of the start, in milliseconds
 * @returns {Promise<Runtime>}
 */
export async function startRuntime(folder, deadline) {
  const { Miniflare } = await import("miniflare"); // not by wrangler: that takes a second to load
  return locked(folder, () => start(new Miniflare(stateOf(folder)), deadline));
}

/**
 * Starts a runtime, to its first answer: until then two that make the same folder's databases would break each other.
 * @param {import("miniflare").Miniflare} runtime
 * @param {number} deadline
 * @returns {Promise<Runtime>}
 */
async function start(runtime, deadline) {
  const close = () => within(CLOSE_MS, "local KV can't stop", runtime.dispose()).catch(() => {}); // the end of the process stops it
  const starting = async () => {
    /** @type {any} */
    const namespace = await runtime.getKVNamespace("PLEDGES");
    await namespace.get("PLEDGES");
    return { namespace, database: () => runtime.getD1Database("LEDGER_DB"), close };
  };
  return within(deadline, "local KV can't start", starting()).catch(async (error) => {
    await close();
    throw error;
  });
}

/**
 * A Worker that does nothing, bound to what `wrangler dev` keeps in this folder: without an `id` in its configuration it
 * names namespaces and databases after their bindings.
 */
const stateOf = (folder) => ({
  cf: false, // else it asks Cloudflare where this machine is
  resourcePersistencePath: join(folder, "v3"),
  workers: [
    {
      config: {
        name: "operator",
        compatibilityDate: "2026-10-01",
        manifest: {
          mainModule: "none.mjs",
          modulesRoot: folder,
          modules: { "none.mjs": { type: /** @type {const} */ ("esm"), contents: "" } },
        },
        env: {
          PLEDGES: { type: /** @type {const} */ ("kv"), id: "PLEDGES" },
          LEDGER_DB: { type: /** @type {const} */ ("d1"), id: "LEDGER_DB" },
        },
        exports: {},
      },
      dev: {},
    },
  ],
});

/** The records of a runtime, as {@link import("./kv.mjs").Kv} asks for them. */
export class LocalPort {
  #kv;
  #deadline;

  /** @param {Runtime} runtime @param {number} deadline of each call, in milliseconds */
  constructor({ namespace, close }, deadline) {
    this.#kv = namespace;
    this.#deadline = deadline;
    this.close = close;
  }

  user = async () => userInfo().username;

  #within = (purpose, promise) => within(this.#deadline, `local KV can't ${purpose}`, promise);

  async list(prefix, cursor) {
    const {
      keys,
      list_complete,
      cursor: next,
    } = await this.#within("list names", this.#kv.list({ prefix, cursor }));
    return { names: keys, cursor: list_complete ? null : next };
  }

  read = (names) => this.#within("read records", this.#kv.getWithMetadata(names));

  async bytes(name) {
    const bytes = await this.#within("read a record", this.#kv.get(name, "arrayBuffer"));
    return bytes && Buffer.from(bytes);
  }

  write = (entries) =>
    this.#each(entries, "write a record", ({ key, value, base64, ...options }) =>
      this.#kv.put(key, base64 ? Uint8Array.from(Buffer.from(value, "base64")) : value, options),
    );
  remove = (names) => this.#each(names, "delete a record", (name) => this.#kv.delete(name));

  async #each(items, purpose, act) {
    const rest = items.values();
    const worker = async () => {
      for (const item of rest) await this.#within(purpose, act(item));
    };
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
  }
}

/**
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
