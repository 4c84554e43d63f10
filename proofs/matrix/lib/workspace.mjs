/** The workspace of an environment: its folder, its tools, and the processes that end with it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { transformSync } from "esbuild";
import { startGroup } from "../../../scripts/lib/serve.mjs";
import { npmScript } from "../../../scripts/lib/bootstrap.mjs";
import { tail } from "../../../scripts/lib/output.mjs";
import { EXPECTED, EXPECTED_FORM } from "../shared/smoke.mjs";
import { serveFolder } from "./files.mjs";
import { Skipped } from "./skipped.mjs";

const MATRIX = join(import.meta.dirname, "..");
const PATIENCE_MS = 600_000;
const POLL_MS = 100;

export class Workspace {
  #leaving = [];
  /** The last output of a server. */
  #output = () => "";

  /**
   * @param {object} given
   * @param {import("../../../scripts/lib/tools.mjs").Tools} given.tools
   * @param {string} given.home where the tools' packages are installed
   * @param {string} given.folder of its own
   * @param {Awaited<ReturnType<typeof import("./service.mjs").useService>>} given.service
   * @param {any} given.browser Chromium by playwright, or a Firefox instead
   */
  constructor({ tools, home, folder, service, browser }) {
    this.tools = tools;
    this.home = home;
    this.folder = folder;
    this.service = service;
    this.browser = browser;
    this.env = {
      ...tools.env,
      NEXT_TELEMETRY_DISABLED: "1",
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
    };
  }

  /** The smoke, and a project of `proofs/matrix/projects` where one is named. */
  copy(project) {
    cpSync(join(MATRIX, "shared"), this.folder, { recursive: true });
    this.write(
      "smoke.cjs",
      transformSync(readFileSync(join(MATRIX, "shared", "smoke.mjs"), "utf8"), { format: "cjs" })
        .code,
    );
    if (project) cpSync(join(MATRIX, "projects", project), this.folder, { recursive: true });
  }

  /** A recipe of `examples`, with nothing but what git has of it. @param {string} [to] a folder */
  copyRecipe(name, to = ".") {
    const made = new Set([
      ".astro",
      ".next",
      ".nuxt",
      ".output",
      ".react-router",
      ".svelte-kit",
      ".wrangler",
      "build",
      "dist",
      "node_modules",
      "package-lock.json",
    ]);
    cpSync(join(this.tools.root, "examples", name), join(this.folder, to), {
      recursive: true,
      filter: (path) => !made.has(basename(path)),
    });
  }

  write(name, text) {
    const file = join(this.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  change(name, changed) {
    this.write(name, changed(readFileSync(join(this.folder, name), "utf8")));
  }

  /** The installed package's files as part of the project. */
  copyPackage(to) {
    cpSync(join(this.folder, "..", "node_modules", "impact-pledge"), join(this.folder, to), {
      recursive: true,
    });
  }

  /** A file of the tools' packages. */
  tool(...path) {
    const file = join(this.home, "node_modules", ...path);
    if (!existsSync(file))
      throw new Skipped(
        `there is no \`${path.join("/")}\`: the registry has none for this machine`,
      );
    return file;
  }

  /** npm, as a script for Node. */
  get npm() {
    const script = npmScript();
    if (!script) throw new Skipped("npm is not found: start this by `npm run matrix`");
    return script;
  }

  /** Of the package itself. */
  packageVersion() {
    return JSON.parse(
      readFileSync(
        join(this.folder, "..", "node_modules", "impact-pledge", "package.json"),
        "utf8",
      ),
    ).version;
  }

  /** `vite 8.3.8` */
  version(name) {
    return `${name} ${JSON.parse(readFileSync(this.tool(name, "package.json"), "utf8")).version}`;
  }

  /** Runs a program to its end. @returns {Promise<string>} what it printed */
  async run(program, ...args) {
    const child = spawn(program, args, {
      cwd: this.folder,
      env: this.env,
      timeout: PATIENCE_MS,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"])
      child[name].setEncoding("utf8").on("data", (text) => (out[name] += text));
    const [code, signal] = await once(child, "close");
    if (code !== 0)
      throw new Error(
        `\`${[program, ...args].join(" ")}\` ended with ${code ?? signal}:\n${tail(out.stdout + out.stderr, 40)}`,
      );
    return out.stdout;
  }

  /** Runs a script with this Node. */
  node(...args) {
    return this.run(process.execPath, ...args);
  }

  /**
   * Starts a server, a script for Node, and waits until it answers.
   * @param {(port: number) => string[]} args
   * @param {{env?: NodeJS.ProcessEnv, folder?: string}} [options]
   * @returns {Promise<string>} its origin
   */
  async start(args, { env, folder = "." } = {}) {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const { child, ended, end } = startGroup(args(port), {
      cwd: join(this.folder, folder),
      env: { ...this.env, ...env, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#leaving.push(end);
    let output = "",
      how;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text) => (output += text));
    this.#output = () => tail(output, 20);
    ended.then((text) => (how = text));
    const until = Date.now() + PATIENCE_MS;
    while (!(await answers(origin))) {
      if (how !== undefined || Date.now() > until)
        throw new Error(`the server ${how || "did not answer"}:\n${this.#output()}`);
      await sleep(POLL_MS);
    }
    return origin;
  }

  /**
   * Serves files, under a policy that allows wasm and no eval.
   * @returns {Promise<string>} the origin
   */
  async serve(folder) {
    const { origin, close } = await serveFolder(join(this.folder, folder));
    this.#leaving.push(close);
    return origin;
  }

  /** The address with the service's, for pages and servers that ask it. */
  address(url) {
    return `${url}?service=${encodeURIComponent(this.service.baseUrl)}`;
  }

  /** A console program must print what is expected. */
  async mustPrint(program, ...args) {
    assert.deepEqual(JSON.parse(await this.run(program, ...args, this.service.baseUrl)), EXPECTED);
  }

  /** A server must answer what is expected. */
  async mustAnswer(url) {
    const text = await (await fetch(this.address(url))).text();
    assert.equal(text, JSON.stringify(EXPECTED), `${url} answers: ${text}\n${this.#output()}`);
  }

  /** A page must find what is expected. */
  async mustShow(url) {
    const page = await this.openPage();
    await page.goto(this.address(url));
    await page.waitForFunction(() => window.result !== undefined);
    assert.deepEqual(await page.evaluate(() => window.result), [EXPECTED, EXPECTED_FORM]);
  }

  /**
   * @param {import("playwright-core").BrowserContextOptions} [options]
   * @returns {Promise<import("playwright-core").Page>}
   */
  async openPage(options) {
    const page = await this.browser.newPage(options);
    this.#leaving.push(() => page.close());
    return page;
  }

  /**
   * @param {() => unknown} end of something that was started here; what was started last ends first
   */
  whenLeaving(end) {
    this.#leaving.push(end);
  }

  async leave() {
    for (const end of this.#leaving.reverse()) await end();
  }
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(origin) {
  try {
    await fetch(origin, { signal: AbortSignal.timeout(30_000) });
    return true;
  } catch {
    return false;
  }
}
