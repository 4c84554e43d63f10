/**
 * Gives access to Workers KV: either the local KV that `npm start` uses, or the KV of a deployed service.
 * Lists are read and passed on page by page, so even a million records need only the memory of one page.
 */
import { join } from "node:path";
import { deployedBucket, localBucket } from "./bucket.mjs";
import { Cloudflare } from "./cloudflare.mjs";
import { configuration } from "./configuration.mjs";
import { deployedLedger, localLedger } from "./ledger.mjs";
import { UserError } from "./output.mjs";
import { LocalPort, startRuntime, stateFolder } from "./runtime.mjs";

const BINDING = "PLEDGES";
const DEADLINE_MS = 30_000; // of each call
const MOST_READS = 100; // of one call, by Cloudflare's limit
const MOST_WRITES = 1_000; // Cloudflare's limit is 10,000
const MOST_BYTES = 20_000_000; // Cloudflare's limit is 100 MB

/**
 * A record to write. `expiration` is in seconds since 1970; `expirationTtl` is in seconds from now, at least
 * 60. For a value that is not text, `value` is base64, and `base64` is set.
 * @typedef {{key: string, value: string, base64?: boolean, metadata?: unknown, expiration?: number, expirationTtl?: number}} Entry
 * @typedef {{name: string, metadata?: unknown, expiration?: number}} Name
 * @typedef {{kind: "local", folder: string} | {kind: "cloudflare", account: string, environment: string | null, worker: string, namespace: string}} Place
 */

/**
 * A namespace of Workers KV, and the ledger for its records (null if there is none). Each call is attempted
 * up to three times, with a deadline for each attempt. Every failure is a {@link UserError}.
 */
export class Kv {
  #port;

  /**
   * @param {Place} place
   * @param {LocalPort | RestPort} port
   * @param {import("./ledger.mjs").Ledger | null} [ledger]
   * @param {(binding: string) => Promise<import("./bucket.mjs").Bucket | null>} [bucket] returns the bucket of a binding; null if there is none
   */
  constructor(place, port, ledger = null, bucket = async (_) => null) {
    this.place = place;
    this.ledger = ledger;
    this.bucket = bucket;
    this.#port = port;
  }

  /**
   * Returns a page of the names that begin with a prefix.
   * @param {string} prefix
   * @param {string | null} [cursor] the cursor that the previous page returned; null for the first page
   * @returns {Promise<{names: Name[], cursor: string | null}>}
   */
  async page(prefix, cursor = null) {
    const page = await this.#port.list(prefix, cursor);
    if (cursor && page.cursor === cursor)
      throw new UserError("Workers KV lists the same page repeatedly");
    return page;
  }

  /** Yields all names that begin with a prefix, with the metadata and expiration of each record. @returns {AsyncGenerator<Name>} */
  async *list(prefix = "") {
    let cursor = null;
    do {
      const page = await this.page(prefix, cursor);
      yield* page.names;
      cursor = page.cursor;
    } while (cursor);
  }

  /** Yields all names that begin with a prefix. @returns {AsyncGenerator<string>} */
  async *names(prefix = "") {
    for await (const { name } of this.list(prefix)) yield name;
  }

  /**
   * Yields the records with these names, in the order of the names. `value` is null if there is no record.
   * @param {Iterable<string> | AsyncIterable<string>} names
   * @returns {AsyncGenerator<{name: string, value: string | null, metadata: unknown}>}
   */
  async *read(names) {
    for await (const some of batches(names, MOST_READS)) yield* await this.#some(some);
  }

  /** Reads records with one call, or with several calls if the values are too large for one. */
  async #some(names) {
    try {
      const found = await this.#port.read(names);
      return names.map((name) => ({
        name,
        value: found.get(name)?.value ?? null,
        metadata: found.get(name)?.metadata ?? null,
      }));
    } catch (error) {
      if (error.status !== 413 || names.length === 1) throw error;
      const half = Math.ceil(names.length / 2);
      return [
        ...(await this.#some(names.slice(0, half))),
        ...(await this.#some(names.slice(half))),
      ];
    }
  }

  /** @param {string} name @returns {Promise<string | null>} */
  async get(name) {
    const [{ value }] = await this.#some([name]);
    return value;
  }

  /** Returns the bytes of a value that may not be text. @param {string} name @returns {Promise<Buffer | null>} */
  bytes = (name) => this.#port.bytes(name);

  /**
   * Writes entries. If two entries have the same key, the later one is kept.
   * @param {Iterable<Entry> | AsyncIterable<Entry>} entries
   */
  async write(entries) {
    for await (const some of batches(entries, MOST_WRITES, ({ key, value }) =>
      Buffer.byteLength(key + value),
    ))
      await this.#port.write(lastOfEach(some));
  }

  /** @param {Iterable<string> | AsyncIterable<string>} names */
  async remove(names) {
    for await (const some of batches(names, MOST_WRITES)) await this.#port.remove(some);
  }

  /**
   * Returns the user's name for the audit log. For a deployed service, this is the e-mail address of the
   * Cloudflare user. If the token may not read that address, it is the token's ID. For local KV, it is the
   * user name on this machine.
   * @returns {Promise<string>}
   */
  user = () => this.#port.user();

  /** Stops the local runtime, which would otherwise keep the process running. */
  close = () => this.#port.close();
}

/**
 * Returns the last entry of each key. Drops earlier entries of the key, because the entries of a batch may be
 * written at the same time, in any order.
 * @param {Entry[]} entries
 */
const lastOfEach = (entries) => [...new Map(entries.map((entry) => [entry.key, entry])).values()];

/**
 * Yields the items in batches. A batch has at most `most` items, and a limited size in bytes.
 * @template T
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @param {number} most the maximum number of items in a batch
 * @param {(item: T) => number} [bytesOf] returns the size of an item, in bytes
 * @returns {AsyncGenerator<T[]>}
 */
export async function* batches(items, most, bytesOf = () => 0) {
  /** @type {T[]} */
  let batch = [];
  let bytes = 0;
  for await (const item of items) {
    const size = bytesOf(item);
    if (batch.length === most || (batch.length > 0 && bytes + size > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Opens the local or deployed namespace, and its ledger.
 * @param {{root: string, project?: string, env: NodeJS.ProcessEnv, wrangler: string}} tools `project`:
 *   the project's folder; the repository if it is missing
 * @param {{remote?: boolean, environment?: string, persistTo?: string, deadline?: number}} [where]
 *   `environment`: an environment in wrangler.toml; `persistTo`: the folder of local state; `deadline`: the
 *   time limit in milliseconds, for each call and for the start of the local runtime
 * @returns {Promise<Kv>}
 */
export async function openKv(
  tools,
  { remote = false, environment, persistTo, deadline = DEADLINE_MS } = {},
) {
  if (remote) return openRemote(tools, { environment, deadline });
  const folder = stateFolder(tools.project ?? tools.root, persistTo);
  const runtime = await startRuntime(folder, deadline);
  const ledger = localLedger(tools, { folder, runtime });
  const bucket = async (binding) => localBucket(runtime, binding);
  return new Kv({ kind: "local", folder }, new LocalPort(runtime), ledger, bucket);
}

async function openRemote(tools, { environment, deadline }) {
  const settings = await configuration(
    join(tools.project ?? tools.root, "wrangler.toml"),
    environment,
  );
  const { name: worker = "", account_id } = settings;
  const cloudflare = await Cloudflare.open(tools, { account: account_id, deadline });
  const [namespace, ledger] = await Promise.all([
    namespaceOf(cloudflare, settings),
    deployedLedger(tools, cloudflare, environment),
  ]);
  return new Kv(
    {
      kind: "cloudflare",
      account: cloudflare.account,
      environment: environment ?? null,
      worker,
      namespace,
    },
    new RestPort(cloudflare, namespace),
    ledger,
    (binding) => deployedBucket(tools, cloudflare, environment, binding),
  );
}

/**
 * Returns the ID of the service's namespace: from wrangler.toml, or else from the deployed Worker's bindings.
 * @param {Cloudflare} cloudflare
 * @param {Pick<import("wrangler").Unstable_Config, "name" | "kv_namespaces">} service the service's
 *   configuration
 * @returns {Promise<string>}
 */
export async function namespaceOf(cloudflare, { name: worker = "", kv_namespaces }) {
  const configured = kv_namespaces.find(({ binding }) => binding === BINDING)?.id;
  if (configured) return configured;
  const bindings = await cloudflare.bindings(worker);
  const id = bindings.find(
    ({ name, type }) => name === BINDING && type === "kv_namespace",
  )?.namespace_id;
  if (!id)
    throw new UserError(
      `the Worker \`${worker}\` of the account ${cloudflare.account} has no KV namespace bound as ${BINDING}`,
    );
  return id;
}

class RestPort {
  #cloudflare;
  #path;

  constructor(cloudflare, namespace) {
    this.#cloudflare = cloudflare;
    this.#path = `/storage/kv/namespaces/${encodeURIComponent(namespace)}`;
  }

  user = () => this.#cloudflare.user();

  async list(prefix, cursor) {
    const query = new URLSearchParams({ limit: "1000", prefix, ...(cursor ? { cursor } : {}) });
    const { result, result_info } = await this.#cloudflare.call(
      "list names",
      "GET",
      `${this.#path}/keys?${query}`,
    );
    return { names: result, cursor: result_info?.cursor || null };
  }

  async read(names) {
    const { result } = await this.#cloudflare.call(
      "read records",
      "POST",
      `${this.#path}/bulk/get`,
      { keys: names, type: "text", withMetadata: true },
    );
    return new Map(Object.entries(result.values ?? {}));
  }

  async bytes(name) {
    const path = `${this.#path}/values/${encodeURIComponent(name)}`;
    return this.#cloudflare.bytes("read a record", path).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
  }

  write = (entries) =>
    this.#all(
      "write records",
      "PUT",
      "/bulk",
      entries.map(({ expirationTtl, ...entry }) => ({ ...entry, expiration_ttl: expirationTtl })),
      ({ key }) => key,
    );
  remove = (names) => this.#all("delete records", "POST", "/bulk/delete", names, (name) => name);

  /**
   * Makes one call for many records. If some of them fail, repeats the call once for the failed records.
   */
  async #all(purpose, method, path, items, nameOf, isLast = false) {
    const { result } = await this.#cloudflare.call(purpose, method, this.#path + path, items);
    const failed = new Set(result?.unsuccessful_keys);
    if (failed.size === 0) return;
    if (isLast)
      throw new UserError(
        `Cloudflare's API can't ${purpose}: ${failed.size} of ${items.length} failed, the first is \`${[...failed][0]}\``,
      );
    await this.#all(
      purpose,
      method,
      path,
      items.filter((item) => failed.has(nameOf(item))),
      nameOf,
      true,
    );
  }

  close = async () => {};
}
