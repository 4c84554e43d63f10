/** Measures statements on local D1, as in `wrangler dev`. The database can be a copy of an existing one. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { startRuntime } from "../../../../scripts/lib/runtime.mjs";

const START_MS = 60_000;

export class LocalD1 {
  #runtime;
  /** The numbers of rows that the last batch wrote and read. */
  meta = { written: 0, read: 0 };

  /**
   * Creates an empty local database in this folder. Then `replace` overwrites its file with another database.
   * @param {string} folder
   * @param {(file: string) => void} replace
   */
  static async make(folder, replace) {
    const empty = await LocalD1.open(folder);
    await empty.time([{ sql: "SELECT ?1", parameter: "null" }]);
    await empty.close();
    const files = globSync(join(folder, "v3", "d1", "**", "*.sqlite"));
    const [file, ...others] = files.filter((name) => !name.endsWith("metadata.sqlite"));
    if (!file || others.length > 0) throw new Error(`no single database in ${folder}`);
    replace(file);
  }

  /** Opens the local database in this folder. @param {string} folder of local state */
  static async open(folder) {
    return new LocalD1(await startRuntime(folder, START_MS));
  }

  constructor(runtime) {
    this.#runtime = runtime;
  }

  /** Runs statements in one batch, and returns the time. @returns {Promise<number>} milliseconds */
  async time(statements) {
    const asked = statements.map(({ sql, parameter }) => ({ sql, params: [parameter] }));
    const began = performance.now();
    const results = await this.#runtime.ask("batch", asked, "local D1");
    const milliseconds = performance.now() - began;
    const sum = (name) => results.reduce((total, { meta }) => total + meta[name], 0);
    this.meta = { written: sum("rows_written"), read: sum("rows_read") };
    return milliseconds;
  }

  close = () => this.#runtime.close();
}
