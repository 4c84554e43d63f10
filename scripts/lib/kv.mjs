/** Workers KV through wrangler: this machine's, which `npm start` serves from, or the deployed service's. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { x } from "tinyexec";
import { stripVTControlCharacters } from "node:util";
import { Stop } from "./report.mjs";

const MOST_READS = 100; // of one call, by Cloudflare's limit

/** @typedef {{key: string, value: string}} Entry */

export class Kv {
  #tools;
  #place;

  /**
   * @param {import("./ready.mjs").Tools} tools
   * @param {{remote?: boolean, persistTo?: string}} [place] `remote`: the deployed namespace instead of the local one;
   *   `persistTo`: the folder of local state, wrangler's own unless given
   */
  constructor(tools, { remote = false, persistTo } = {}) {
    this.#tools = tools;
    this.#place = remote ? ["--remote"] : ["--local", ...(persistTo ? ["--persist-to", persistTo] : [])];
  }

  /** @param {string} prefix @returns {Promise<string[]>} the names that begin so */
  async names(prefix) {
    return JSON.parse(await this.#run("key", "list", "--prefix", prefix)).map(({ name }) => name);
  }

  /** @param {string[]} names @returns {Promise<Record<string, string | null>>} null where there is no record */
  async read(names) {
    const found = {};
    for (let first = 0; first < names.length; first += MOST_READS) {
      const some = names.slice(first, first + MOST_READS);
      const values = JSON.parse(await this.#runWithList("get", some));
      const text = (value) => (typeof value === "string" ? value : (value?.value ?? null)); // remote, local
      for (const name of some) found[name] = text(values[name]);
    }
    return found;
  }

  /** @param {Entry[]} entries */
  async write(entries) {
    await this.#runWithList("put", entries);
  }

  /** @param {string} name */
  async remove(name) {
    await this.#run("key", "delete", name);
  }

  /** Wrangler takes lists from files only. */
  async #runWithList(operation, list) {
    const folder = mkdtempSync(join(tmpdir(), "impact-pledge-"));
    try {
      writeFileSync(join(folder, "list.json"), JSON.stringify(list), { mode: 0o600 });
      return await this.#run("bulk", operation, join(folder, "list.json"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** @returns {Promise<string>} what wrangler prints */
  async #run(...args) {
    const { root, env, wrangler } = this.#tools;
    const nodeOptions = { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] };
    const { exitCode, stdout, stderr } = await x(process.execPath, [wrangler, "kv", ...args, "--binding", "PLEDGES", ...this.#place], { nodeOptions });
    if (exitCode === 0) return stdout;
    throw new Stop(`Workers KV can't be reached: ${reason(stripVTControlCharacters(stderr + stdout))}`);
  }
}

/** The sentence that matters of wrangler's output. */
function reason(output) {
  const [, error] = output.match(/\[ERROR\]\s*([\s\S]*?)(?:\n\n\n|\n🪵|\n\s*If you think|$)/) ?? [];
  return (error ?? output).trim().replaceAll(/\s+/g, " ");
}
