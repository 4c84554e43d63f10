/** Workers KV through wrangler: this machine's, which `npm start` serves from, or the deployed service's. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Stop } from "./report.mjs";
import { run } from "./run.mjs";

const MOST_READS = 100; // of one call, by Cloudflare's limit
/** @typedef {{key: string, value: string}} Entry */

export class Kv {
  #run;

  /** @param {import("./ready.mjs").Tools} tools @param {{remote?: boolean, persistTo?: string}} [place] the deployed namespace, or the folder of local state */
  constructor({ root, env, wrangler }, { remote = false, persistTo } = {}) {
    const place = ["--binding", "PLEDGES", remote ? "--remote" : "--local", ...(persistTo ? ["--persist-to", persistTo] : [])];
    this.#run = (...args) => run(process.execPath, [wrangler, "kv", ...args, ...place], { cwd: root, env }).catch(unreachable);
  }

  /** @param {string} prefix @returns {Promise<string[]>} the names that begin so */
  async names(prefix) {
    return JSON.parse(await this.#run("key", "list", "--prefix", prefix)).map(({ name }) => name);
  }

  /** @param {string[]} names @returns {Promise<Record<string, string | null>>} null where there is no record */
  async read(names) {
    if (names.length > MOST_READS) return { ...(await this.read(names.slice(0, MOST_READS))), ...(await this.read(names.slice(MOST_READS))) };
    const found = names.length > 0 ? JSON.parse(await this.#runWithList("get", names)) : {};
    const text = (value) => (typeof value === "string" ? value : (value?.value ?? null)); // remote, local
    return Object.fromEntries(names.map((name) => [name, text(found[name])]));
  }

  /** @param {Entry[]} entries */
  write = (entries) => this.#runWithList("put", entries);

  remove = (name) => this.#run("key", "delete", name);

  /** Wrangler takes lists from files only. */
  async #runWithList(operation, list) {
    const folder = mkdtempSync(join(tmpdir(), "impact-pledge-"));
    writeFileSync(join(folder, "list.json"), JSON.stringify(list), { mode: 0o600 });
    return this.#run("bulk", operation, join(folder, "list.json")).finally(() => rmSync(folder, { recursive: true, force: true }));
  }
}

/** Keeps the sentence that matters of wrangler's output. */
function unreachable({ message, output }) {
  const plain = stripVTControlCharacters(output || message);
  const [, error = plain] = plain.match(/\[ERROR\]\s*([\s\S]*?)(?:\n\n\n|\n🪵|\n\s*If you think|$)/) ?? [];
  throw new Stop(`Workers KV can't be reached: ${error.trim().replaceAll(/\s+/g, " ")}`);
}
