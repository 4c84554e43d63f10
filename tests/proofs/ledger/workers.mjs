/**
 * Runs the service and the dashboard, as `npm start` does, with the same folder of local state. Each can be
 * killed and restarted.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import getPort, { portNumbers } from "get-port";
import { wrangler } from "../../../scripts/lib/cloudflare-packages.mjs";
import { serve } from "../../../scripts/lib/serve.mjs";

const CRON = "*/5 * * * *";

/** A Worker in a separate process group. */
class Worker {
  kills = 0;
  #start;
  /** @type {Promise<import("../../../scripts/lib/serve.mjs").Server> | null} */
  #server = null;

  /** @param {() => Promise<import("../../../scripts/lib/serve.mjs").Server>} start */
  constructor(start) {
    this.#start = start;
  }

  /**
   * Returns the Worker's origin, such as `http://127.0.0.1:8787`. Waits while the Worker is restarting.
   * @returns {Promise<string>}
   */
  origin = async () => (await this.start()).origin;

  start() {
    this.#server ??= this.#start();
    return this.#server;
  }

  /** Kills wrangler and workerd with `kill -9`, and restarts them. */
  async kill() {
    const server = await this.#server;
    if (!server) return;
    this.kills += 1;
    this.#server = server.kill().then(this.#start);
    await this.#server;
  }

  /** Kills wrangler and workerd, without a restart. */
  async end() {
    const server = await this.#server?.catch(() => null);
    this.#server = null;
    await server?.kill();
  }
}

/**
 * Starts the service and the dashboard with the same folder of local state.
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 * @param {string} folder of the state
 */
export async function workers(tools, folder) {
  const configs = await configurations(tools, join(folder, "configurations"));
  const first = await getPort({ port: portNumbers(20_000, 20_999) }); // below the ports of outgoing connections
  const second = await getPort({ port: portNumbers(first + 1, 21_999) });
  const start = (what, config, port) => () =>
    serve(tools, { what, config, port, persistTo: folder });
  return {
    service: new Worker(start("the service", configs.service, first)),
    dashboard: new Worker(start("the dashboard", configs.dashboard, second)),
  };
}

/**
 * Writes the configurations that `npm start` uses, with two changes: the Workers are already built, and the
 * demo shop is left out. Returns the files.
 */
async function configurations({ root }, folder) {
  const { experimental_readRawConfig: read } = wrangler();
  const www = join(root, "www");
  mkdirSync(folder);
  const write = (name, file, main) => {
    const {
      build: _,
      assets: __,
      env: ___,
      ...raw
    } = /** @type {any} */ (read({ config: join(www, file) }).rawConfig);
    const config = { ...raw, main: join(root, main) };
    for (const database of config.d1_databases ?? [])
      database.migrations_dir = join(www, database.migrations_dir);
    const target = join(folder, `${name}.json`);
    writeFileSync(target, JSON.stringify(config));
    return target;
  };
  return {
    service: write("service", "wrangler.dev.toml", join("build", "worker.js")),
    dashboard: write(
      "dashboard",
      "wrangler.dashboard.dev.toml",
      join("build", "dashboard", "worker.js"),
    ),
  };
}

/** Runs the dashboard's cron once. @param {Worker} dashboard */
export async function runCron(dashboard) {
  const query = new URLSearchParams({ cron: CRON });
  return fetch(`${await dashboard.origin()}/cdn-cgi/handler/scheduled?${query}`);
}
