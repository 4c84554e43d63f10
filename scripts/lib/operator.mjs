/**
 * The crate's own functions for an operator, as wasm: the scripts know no names, formats and checks of records.
 * `src/operator_exports` says what each takes and returns.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { UserError } from "./output.mjs";
import { isClone } from "./places.mjs";

const LOCAL_SETTLE_MS = 50; // local KV answers within some milliseconds, and shows each write at once

/**
 * A namespace as these functions take it, and the ledger of its records where there is one.
 * @typedef {object} Port
 * @property {(prefix: string, cursor?: string) => Promise<{records: import("./kv.mjs").Name[], cursor: string | null}>} list a page
 * @property {(names: string[]) => Promise<{value: string | null, metadata: unknown}[]>} read in the order of the names, 100 at most
 * @property {(entry: import("./kv.mjs").Entry) => Promise<void>} write
 * @property {(name: string) => Promise<void>} remove
 * @property {(milliseconds: number) => Promise<void>} pause
 * @property {Pick<import("./ledger.mjs").Ledger, "run">} [ledger]
 * @property {number} [settleMs] how long a write may not show; left out where that is as on Cloudflare
 */

/**
 * @param {import("./kv.mjs").Kv} kv
 * @param {(count: number) => void} [tell] hears how many records were listed
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
    pause: (milliseconds) => sleep(milliseconds),
    ledger: kv.ledger ?? undefined,
    settleMs: kv.place.kind === "local" ? LOCAL_SETTLE_MS : undefined,
  };
}

/** What the functions refuse by their rules. What the namespace throws is none. */
export class Refusal extends UserError {}

const instances = new Map(); // by distribution

/**
 * The functions by name; what they throw is a {@link UserError}.
 * @returns {Promise<Record<string, (...args: any[]) => Promise<any>>>}
 */
export function operator({ root }) {
  if (!instances.has(root)) instances.set(root, load(root));
  return instances.get(root);
}

async function load(root) {
  const folder = isClone ? await built(root) : join(root, "build", "operator");
  const {
    initSync,
    default: _,
    ...functions
  } = await import(pathToFileURL(join(folder, "operator.js")).href);
  initSync({ module: readFileSync(join(folder, "operator_bg.wasm")) });
  return Object.fromEntries(
    Object.entries(functions).map(([name, work]) => [name, withUserErrors(work)]),
  );
}

/** Of the sources as they are. The package has no compiler, and not this module. */
async function built(root) {
  const module = pathToFileURL(join(import.meta.dirname, "operator-build.mjs")).href;
  return (await import(module)).builtOperator(root);
}

/** Rust throws text; what the namespace threw comes through as it is. */
function withUserErrors(work) {
  return async (...args) => {
    try {
      return await work(...args);
    } catch (problem) {
      throw typeof problem === "string" ? new Refusal(problem) : problem;
    }
  };
}
