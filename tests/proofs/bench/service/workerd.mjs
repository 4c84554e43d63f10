/** Runs Workers on `workerd serve`, bundled by wrangler, with KV in memory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { UserError, tail } from "../../../../scripts/lib/output.mjs";
import { run } from "../../../../scripts/lib/run.mjs";

const HERE = import.meta.dirname;
const START_MS = 300_000; // guards against waiting for ever
/** The header of a record's metadata, as workerd's KV binding writes it. */
const METADATA = "CF-KV-Metadata";

/**
 * workerd's configurations, each with its flags for V8. `--no-flush-liftoff-code` keeps the code that V8's
 * first wasm compiler made. Without it, V8 drops that code when workerd creates another isolate, such as
 * KV's.
 */
const CONFIGS = {
  "config.capnp": [],
  "inspected.capnp": ["--expose-gc"],
  "eager.capnp": ["--no-wasm-lazy-compilation", "--no-flush-liftoff-code"],
};

/**
 * The bindings for the ledger's queue. `platform` is workerd's own queue, whose messages another Worker
 * receives. `stand-in` is an object that accepts each message at once.
 * @typedef {keyof typeof QUEUES} Queue
 */
const QUEUES = {
  platform: '(name = "LEDGER", queue = "queue")',
  "stand-in": '(name = "LEDGER", wrapped = (moduleName = "bench:stand-in"))',
};

/**
 * @typedef {object} Bundle
 * @property {string} folder the folder with workerd's configurations
 * @property {{raw: number, gzip: number, brotli: number}} upload the size of what a deploy would send, in bytes
 */

/**
 * Bundles a Worker with `wrangler deploy --dry-run`, and writes workerd's configuration beside it.
 * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools
 * @param {{main: string, folder: string, kv?: string, queue?: Queue, adapter?: string}} place the Worker's
 *   entry file, and a separate folder for the output; `kv`: the address of the caller's own KV service;
 *   `adapter`: the address of the caller's own HTTP server, which is bound as `ADAPTER`
 * @returns {Promise<Bundle>}
 */
export async function bundle(tools, { main, folder, kv, queue, adapter }) {
  rmSync(folder, { recursive: true, force: true });
  const out = join(folder, "out");
  mkdirSync(out, { recursive: true });
  const compatibilityDate = dateOf(join(tools.root, "wrangler.toml"));
  const config = join(folder, "wrangler.json");
  writeFileSync(
    config,
    JSON.stringify({
      name: "bench",
      main,
      compatibility_date: compatibilityDate,
      keep_names: false,
      kv_namespaces: [{ binding: "PLEDGES", id: "bench" }],
    }),
  );
  const args = ["deploy", "--dry-run", "--minify", "--config", config, "--outdir", out];
  await run(process.execPath, [tools.wrangler, ...args], { cwd: folder, env: tools.env });
  const modules = readdirSync(out)
    .filter((name) => /\.(js|wasm)$/.test(name))
    .sort();
  for (const name of ["kv", "queue", "stand-in"])
    copyFileSync(join(HERE, "workers", `${name}.mjs`), join(folder, `${name}.js`));
  const bindings = { kv, queue: queue && QUEUES[queue], adapter };
  for (const [name, flags] of Object.entries(CONFIGS))
    writeFileSync(join(folder, name), configText(modules, compatibilityDate, flags, bindings));
  return { folder, upload: sizes(modules.map((name) => readFileSync(join(out, name)))) };
}

/** Returns our Worker's compatibility date, with which all Workers run. */
function dateOf(file) {
  const [, date] = readFileSync(file, "utf8").match(/^compatibility_date = "(.*)"$/m) ?? [];
  if (!date) throw new UserError(`\`${file}\` names no compatibility_date`);
  return date;
}

function sizes(files) {
  const sum = (size) => files.reduce((total, bytes) => total + size(bytes), 0);
  return {
    raw: sum((bytes) => bytes.length),
    gzip: sum((bytes) => gzipSync(bytes, { level: 9 }).length),
    brotli: sum((bytes) => brotliCompressSync(bytes).length),
  };
}

/** Returns workerd's configuration. workerd starts the first module, so the Worker's entry comes first. */
function configText(modules, compatibilityDate, flags, { kv, queue, adapter }) {
  const entry = modules.find((name) => name.endsWith(".js"));
  const rest = modules.filter((name) => name !== entry);
  const kind = (name) => (name.endsWith(".wasm") ? "wasm" : "esModule");
  const bindings = [
    '(name = "PLEDGES", kvNamespace = "kv")',
    '(name = "ALLOWED_ORIGINS", text = "")',
    ...(queue ? [queue] : []),
    ...(adapter ? ['(name = "ADAPTER", service = "adapter")'] : []),
  ];
  const lines = [entry, ...rest].map(
    (name) => `    (name = "${name}", ${kind(name)} = embed "out/${name}"),`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = ${JSON.stringify(flags)},
  services = [
    (name = "main", worker = .main),
    (name = "kv", ${kv ? `external = (address = "${kv}", http = ())` : "worker = .kv"}),
    (name = "queue", worker = .queue),${adapter ? `\n    (name = "adapter", external = (address = "${adapter}", http = ())),` : ""}
  ],
  extensions = [(modules = [(name = "bench:stand-in", internal = true, esModule = embed "stand-in.js")])],
  sockets = [
    (name = "main", address = "127.0.0.1:0", http = (), service = "main"),
    (name = "kv", address = "127.0.0.1:0", http = (), service = "kv"),
  ],
);

const main :Workerd.Worker = (
  modules = [
${lines.join("\n")}
  ],
  compatibilityDate = "${compatibilityDate}",
  bindings = [${bindings.join(", ")}],
);

const kv :Workerd.Worker = (modules = [(name = "kv.js", esModule = embed "kv.js")], compatibilityDate = "${compatibilityDate}");
const queue :Workerd.Worker = (modules = [(name = "queue.js", esModule = embed "queue.js")], compatibilityDate = "${compatibilityDate}");
`;
}

/**
 * Returns the path of workerd's own binary. npm's command would start the binary from a Node process, whose
 * time must not be measured.
 */
function binary({ root }) {
  const ofWrangler = createRequire(createRequire(join(root, "package.json")).resolve("wrangler"));
  return ofWrangler("workerd").default;
}

/** A running workerd. */
export class Server {
  /** The last part of workerd's output. */
  output = "";
  /** The ports by socket name. @type {Record<string, number>} */
  ports = {};

  /** @param {string} program @param {string[]} args */
  constructor(program, args) {
    this.spawnedAt = performance.now();
    this.child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding("utf8").on("data", (text) => {
        this.output = (this.output + text).slice(-10_000);
      });
    process.on("exit", this.kill);
  }

  /**
   * Starts workerd with a bundle, and waits until it listens.
   * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools
   * @param {Bundle} bundle
   * @param {{inspected?: boolean, eager?: boolean}} [how] `inspected`: with the inspector at the port `ports.inspector`;
   *   `eager`: all functions of wasm are compiled when the Worker is loaded, and not at their first call
   */
  static async start(tools, bundle, { inspected = false, eager = false } = {}) {
    const program = binary(tools);
    const plain = eager ? "eager.capnp" : "config.capnp";
    const args = inspected
      ? ["--inspector-addr=127.0.0.1:0", join(bundle.folder, "inspected.capnp")]
      : [join(bundle.folder, plain)];
    const server = new Server(program, ["serve", "--control-fd=3", ...args]);
    server.ports = await portsOf(server);
    return server;
  }

  /** Kills workerd. */
  kill = () => void this.child.kill("SIGKILL");

  /** @returns {number} */
  get pid() {
    return this.child.pid ?? 0;
  }

  get origin() {
    return `http://127.0.0.1:${this.ports.main}`;
  }

  /** Puts records into workerd's KV. @param {{key: string, value: string, metadata?: object | null}[]} entries */
  async seed(entries) {
    for (const { key, value, metadata = null } of entries) {
      const headers = new Headers(metadata ? { [METADATA]: JSON.stringify(metadata) } : {});
      const response = await fetch(this.#recordAt(key), { method: "PUT", body: value, headers });
      if (!response.ok) throw new UserError(`KV refused \`${key}\`: ${response.status}`);
    }
  }

  /** Returns a record of workerd's KV. @param {string} key @returns {Promise<{value: string, metadata: any}>} */
  async record(key) {
    const response = await fetch(this.#recordAt(key));
    if (!response.ok) throw new UserError(`KV lacks \`${key}\`: ${response.status}`);
    const value = await response.text();
    return { value, metadata: JSON.parse(response.headers.get(METADATA) ?? "null") };
  }

  #recordAt = (key) =>
    `http://127.0.0.1:${this.ports.kv}/${encodeURIComponent(key)}?urlencoded=true`;

  async end() {
    process.off("exit", this.kill);
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await ended;
  }
}

/** Returns the ports of workerd's sockets. workerd prints a port once it listens. */
function portsOf(server) {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new UserError(`workerd did not start:\n${tail(server.output, 10)}`));
    const late = setTimeout(fail, START_MS);
    server.child.once("exit", fail);
    const ports = {};
    createInterface({ input: server.child.stdio[3] }).on("line", (line) => {
      const { event, socket, port } = JSON.parse(line);
      if (event === "listen") ports[socket] = port;
      if (event === "listen-inspector") ports.inspector = port;
      if (!(ports.main && ports.kv)) return;
      clearTimeout(late);
      server.child.off("exit", fail);
      resolve(ports);
    });
  });
}
