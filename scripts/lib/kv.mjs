/** Workers KV through wrangler: this machine's, which `npm start` serves from, or the deployed service's. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stop } from "./report.mjs";

const BINDING = "PLEDGES";
const MOST_READS = 100; // of one call, by Cloudflare's limit

/**
 * @typedef {{key: string, value: string}} Entry
 * @typedef {object} Place
 * @property {boolean} [remote] the deployed namespace instead of the local one
 * @property {string} [persistTo] the folder of local state; wrangler's own unless given
 */

export class Kv {
  /** @param {import("./ready.mjs").Tools} tools @param {Place} [place] */
  constructor(tools, { remote = false, persistTo } = {}) {
    this.tools = tools;
    this.place = remote ? ["--remote"] : ["--local", ...(persistTo ? ["--persist-to", persistTo] : [])];
  }

  /** @param {string} prefix @returns {Promise<string[]>} the names that begin so */
  async names(prefix) {
    const found = JSON.parse(await this.#run(["key", "list", "--prefix", prefix]));
    return found.map(({ name }) => name);
  }

  /** @param {string[]} names @returns {Promise<Record<string, string | null>>} null where there is no record */
  async read(names) {
    const found = {};
    for (let first = 0; first < names.length; first += MOST_READS) {
      Object.assign(found, await this.#readOnce(names.slice(first, first + MOST_READS)));
    }
    return found;
  }

  async #readOnce(names) {
    const values = JSON.parse(await withFile(names, (file) => this.#run(["bulk", "get", file])));
    const text = (found) => (typeof found === "string" ? found : (found?.value ?? null)); // remote, local
    return Object.fromEntries(names.map((name) => [name, text(values[name])]));
  }

  /** @param {Entry[]} entries */
  async write(entries) {
    await withFile(entries, (file) => this.#run(["bulk", "put", file]));
  }

  /** @param {string} name */
  async remove(name) {
    await this.#run(["key", "delete", name]);
  }

  /** @returns {Promise<string>} what wrangler prints */
  async #run(args) {
    const { root, env, bin } = this.tools;
    const command = [bin("wrangler"), "kv", ...args, "--binding", BINDING, ...this.place];
    const { code, output, problem } = await execute(command, { cwd: root, env });
    if (code !== 0) throw new Stop(`Workers KV can't be reached: ${reason(problem + output)}`);
    return output;
  }
}

/** Wrangler takes lists from files only. @template T @param {unknown} content @param {(file: string) => Promise<T>} use */
async function withFile(content, use) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-"));
  const file = join(folder, "list.json");
  try {
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function execute(args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (texts[name] += text));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output: texts.stdout, problem: texts.stderr }));
  });
}

/** The sentence that matters of wrangler's output. */
function reason(output) {
  const plain = output.replaceAll(/\x1b\[[0-9;]*m/g, "");
  const [, error] = plain.match(/\[ERROR\]\s*([\s\S]*?)(?:\n\n\n|\n🪵|\n\s*If you think|$)/) ?? [];
  return (error ?? plain).trim().replaceAll(/\s+/g, " ");
}
