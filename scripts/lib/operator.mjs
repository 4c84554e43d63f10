/**
 * The crate's own functions for an operator, as wasm: the scripts know no names, formats and checks of records.
 * `src/operator_exports` says what each takes and returns.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { locked, replaceFolder } from "./cache.mjs";
import { UserError, log } from "./output.mjs";
import { prepareTools } from "./tools.mjs";
import { buildWasm, stateOf } from "./wasm.mjs";

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

const folderOf = (root) => join(root, "build", "operator");
/** Those of `npm start` do the same. */
const placesOf = (root) => [folderOf(root), join(root, "build", "local", "operator")];
const instances = new Map(); // by clone

/**
 * The functions by name; what they throw is a {@link UserError}.
 * @returns {Promise<Record<string, (...args: any[]) => Promise<any>>>}
 */
export function operator({ root }) {
  if (!instances.has(root)) instances.set(root, load(root));
  return instances.get(root);
}

async function load(root) {
  const folder = placesOf(root).find((place) => isFresh(root, place)) ?? (await built(root));
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

async function built(root) {
  log("building the operator's commands, a minute the first time");
  await buildOperator({ ...(await prepareTools()), root });
  return folderOf(root);
}

/** Was it built from the sources as they are? */
function isFresh(root, folder) {
  const stamp = join(folder, "stamp");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === stateOf(root);
}

/**
 * Of several at once, one builds.
 * @param {import("./tools.mjs").Tools} tools
 * @param {string} [folder]
 * @param {(tools: import("./tools.mjs").Tools, name: string) => Promise<string>} [build]
 */
export async function buildOperator(tools, folder = folderOf(tools.root), build = buildWasm) {
  const { root } = tools;
  await locked(folder, async () => {
    if (isFresh(root, folder)) return;
    const state = stateOf(root);
    await replaceFolder(folder, dirname(folder), async (fresh) => {
      cpSync(await build(tools, "operator"), fresh, { recursive: true });
      writeFileSync(join(fresh, "stamp"), state);
    });
  });
}
