/**
 * Loads the crate's functions for operators, as WebAssembly. Only these functions know the names, the formats
 * and the rules of records. `src/doors/commands` documents what each function takes and returns.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { PICTURES } from "./bucket.mjs";
import { UserError } from "./output.mjs";
import { isClone } from "./places.mjs";

/**
 * A KV namespace in the form that the operator's functions take. It may include the ledger for the
 * namespace's records.
 * @typedef {object} Port
 * @property {(prefix: string, cursor?: string) => Promise<{records: import("./kv.mjs").Name[], cursor: string | null}>} list
 *   returns a page of a list
 * @property {(names: string[]) => Promise<{value: string | null, metadata: unknown}[]>} read returns up to
 *   100 records, in the order of their names in the call
 * @property {(entry: import("./kv.mjs").Entry) => Promise<void>} write
 * @property {(name: string) => Promise<void>} remove
 * @property {(name: string, bytes: Uint8Array) => Promise<boolean>} keepPicture stores a picture; false if no bucket is bound
 * @property {(milliseconds: number) => Promise<void>} pause
 * @property {Pick<import("./ledger.mjs").Ledger, "run">} [ledger]
 */

/**
 * Converts a namespace to a {@link Port}, the form that the operator's functions take.
 * @param {import("./kv.mjs").Kv} kv
 * @param {(count: number) => void} [tell] called with the number of records listed so far
 * @returns {Port}
 */
export function portOf(kv, tell = () => {}) {
  let listed = 0;
  return {
    list: async (prefix, cursor) => {
      const page = await kv.page(prefix, cursor);
      listed += page.names.length;
      tell(listed);
      return { records: page.names, cursor: page.cursor };
    },
    read: (names) => Array.fromAsync(kv.read(names)),
    write: (entry) => kv.write([entry]),
    remove: (name) => kv.remove([name]),
    keepPicture: async (name, bytes) => {
      const bucket = await kv.bucket(PICTURES);
      await bucket?.keep(name, bytes);
      return bucket !== null;
    },
    pause: (milliseconds) => sleep(milliseconds),
    ledger: kv.ledger ?? undefined,
  };
}

/**
 * Thrown if an operator's function refuses a call by its own rules. Failures of the namespace throw other
 * errors. `refused` says which argument is wrong, if one is.
 */
export class Refusal extends UserError {
  /** @param {string | Refused} refused */
  constructor(refused) {
    super(typeof refused === "string" ? refused : refused.message);
    this.refused = typeof refused === "string" ? undefined : refused;
  }
}

/**
 * @typedef {{field?: string, item?: string, code: string, message: string}} Refused `field`: the wrong argument; `item`: which
 *   of its values, such as the offering of a quantity
 */

const instances = new Map(); // by distribution

/**
 * Returns the operator's functions by name. A function that fails throws a {@link UserError}.
 * @returns {Promise<Record<string, (...args: any[]) => Promise<any>>>}
 */
export function operator({ root }) {
  if (!instances.has(root)) instances.set(root, load(root));
  return instances.get(root);
}

async function load(root) {
  const folder = isClone ? await built(root) : join(root, "build", "dashboard");
  const {
    initSync,
    default: _,
    ...functions
  } = await import(pathToFileURL(join(folder, "dashboard.js")).href);
  initSync({ module: readFileSync(join(folder, "dashboard_bg.wasm")) });
  return Object.fromEntries(
    Object.entries(functions).map(([name, work]) => [name, withUserErrors(work)]),
  );
}

/**
 * Returns the folder of an up-to-date build. Imports the module that makes builds only here, because the npm
 * package contains neither this module nor a compiler.
 */
async function built(root) {
  const module = pathToFileURL(join(import.meta.dirname, "operator-build.mjs")).href;
  return (await import(module)).builtOperator(root);
}

/**
 * Returns the error for what an operator's function has thrown: a text, or an object with a refusal. Errors of the namespace
 * stay as they are.
 */
export function userError(thrown) {
  if (typeof thrown === "string") return new Refusal(thrown);
  return thrown?.refused && !(thrown instanceof Error) ? new Refusal(thrown.refused) : thrown;
}

/** Wraps an operator's function, so that it throws a {@link userError}. */
function withUserErrors(work) {
  return async (...args) => {
    try {
      return await work(...args);
    } catch (thrown) {
      throw userError(thrown);
    }
  };
}
