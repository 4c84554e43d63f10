/** The workspace of one environment: its folder, its tools, and the processes that it starts and ends. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, dirname, join, normalize } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { transformSync } from "esbuild";
import getPort from "get-port";
import { npmScript } from "../../../../scripts/lib/bootstrap.mjs";
import { tail } from "../../../../scripts/lib/output.mjs";
import { startGroup } from "../../../../scripts/lib/serve.mjs";
import { onLoopback } from "../../../support/loopback.mjs";
import { EXPECTED, EXPECTED_FORM } from "../shared/smoke.mjs";
import { Skipped } from "./browser.mjs";

const MATRIX = join(import.meta.dirname, "..");
const PATIENCE_MS = 600_000;
const POLL_MS = 100;
/** Matches the files that frameworks generate beside the files in git. */
const MADE =
  /^(\.astro|\.next|\.nuxt|\.output|\.react-router|\.svelte-kit|\.wrangler|build|dist|node_modules|package-lock\.json)$/;
const POLICY = "script-src 'self' 'wasm-unsafe-eval'";

export class Workspace {
  #leaving = [];
  /** Returns the last lines that the most recently started server printed. @type {(count?: number) => string} */
  output = () => "";

  /**
   * Creates the workspace of one environment.
   * @param {object} given
   * @param {import("../../../../scripts/setup/tools.mjs").Tools} given.tools
   * @param {string} given.home where the tools' packages are installed
   * @param {string} given.folder the folder of this environment
   * @param {Awaited<ReturnType<typeof import("./service.mjs").useService>>} given.service
   * @param {() => Promise<any>} given.browser starts a browser with puppeteer's interface
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
      SERVICE: service.baseUrl,
    };
  }

  /**
   * Copies the files of the smoke test, and a project of `tests/proofs/matrix/projects` if one is named.
   * @param {string} [project]
   */
  copy(project) {
    cpSync(join(MATRIX, "shared"), this.folder, { recursive: true });
    const smoke = readFileSync(join(MATRIX, "shared", "smoke.mjs"), "utf8");
    this.write("smoke.cjs", transformSync(smoke, { format: "cjs" }).code);
    if (project) cpSync(join(MATRIX, "projects", project), this.folder, { recursive: true });
  }

  /** Copies a recipe of `examples`. @param {string} [to] a folder */
  copyRecipe(name, to = ".") {
    cpSync(join(this.tools.root, "examples", name), join(this.folder, to), {
      recursive: true,
      filter: (path) => !MADE.test(basename(path)),
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

  /** Returns the path of a file in the tools' packages. */
  tool(path) {
    const file = join(this.home, "node_modules", path);
    if (!existsSync(file))
      throw new Skipped(`there is no \`${path}\`: the registry has none for this machine`);
    return file;
  }

  /** Returns a package's name and version, such as `vite 8.3.8`. */
  version(name) {
    return `${name} ${JSON.parse(readFileSync(this.tool(`${name}/package.json`), "utf8")).version}`;
  }

  /** Returns the browser's name and version, such as `Chrome 156.0`. */
  async browserVersion() {
    return (await (await this.browser()).version()).replace("/", " ");
  }

  /**
   * Converts a command to arguments for Node: flags, the path of a script, and the command's own arguments.
   * The script is `npm` or a file of the tools' packages.
   */
  #arguments(command) {
    const words = command.split(" ");
    const script = words.findIndex((word) => !word.startsWith("-"));
    return words.with(script, words[script] === "npm" ? npm() : this.tool(words[script]));
  }

  /** Runs a program and waits for its end. @returns {Promise<string>} what it printed */
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

  /** Runs a command such as `vite/bin/vite.js build` with the Node that runs this script. */
  node(command) {
    return this.run(process.execPath, ...this.#arguments(command));
  }

  /**
   * Starts a server and waits until it answers.
   * @param {string} command the command that starts the server; `PORT` in it is replaced with a free port
   * @param {{env?: NodeJS.ProcessEnv, folder?: string}} [options]
   * @returns {Promise<string>} the server's origin
   */
  async start(command, { env, folder = "." } = {}) {
    const port = await getPort({ host: "127.0.0.1" });
    const origin = `http://127.0.0.1:${port}`;
    const { child, ended, end } = startGroup(
      this.#arguments(command.replace("PORT", String(port))),
      {
        cwd: join(this.folder, folder),
        env: { ...this.env, ...env, PORT: String(port) },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#leaving.push(end);
    let output = "";
    let how;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text) => (output += text));
    this.output = (count = 20) => tail(output, count);
    ended.then((text) => (how = text));
    const until = Date.now() + PATIENCE_MS;
    while (!(await answers(origin))) {
      if (how !== undefined || Date.now() > until)
        throw new Error(`the server ${how || "did not answer"}:\n${this.output()}`);
      await sleep(POLL_MS);
    }
    return origin;
  }

  /**
   * Serves the files of a folder under a Content-Security-Policy that forbids `eval`.
   * @returns {Promise<string>} the origin
   */
  async serve(folder, policy = POLICY) {
    const { origin, close } = await onLoopback(
      createServer((request, response) => {
        const path = normalize(new URL(request.url ?? "/", "http://x").pathname);
        const file = join(this.folder, folder, path.endsWith("/") ? `${path}index.html` : path);
        if (!existsSync(file)) return response.writeHead(404).end();
        const type = file.endsWith(".html") ? "text/html; charset=utf-8" : "text/javascript";
        response
          .writeHead(200, { "content-type": type, "content-security-policy": policy })
          .end(readFileSync(file));
      }),
    );
    this.#leaving.push(close);
    return origin;
  }

  /**
   * Adds the parameter `service`, which is the address of the pledge service, to a URL. The tested pages and
   * servers call this service.
   */
  #address = (url) => `${url}?service=${encodeURIComponent(this.service.baseUrl)}`;

  /** Checks that a console program prints the expected results. */
  async mustPrint(program, ...args) {
    assert.deepEqual(JSON.parse(await this.run(program, ...args, this.service.baseUrl)), EXPECTED);
  }

  /** Checks that a server answers with the expected results. */
  async mustAnswer(url) {
    const text = await (await fetch(this.#address(url))).text();
    assert.equal(text, JSON.stringify(EXPECTED), `${url} answers: ${text}\n${this.output()}`);
  }

  /** Checks that a page leaves the expected results in `window.result`. @param {unknown} [expected] */
  async mustShow(url, expected = [EXPECTED, EXPECTED_FORM]) {
    const page = await this.openPage();
    await page.goto(this.#address(url));
    await page.waitForFunction(() => window.result !== undefined);
    assert.deepEqual(await page.evaluate(() => window.result), expected);
  }

  /**
   * Opens a page in the environment's browser.
   * @returns {Promise<any>} a page of puppeteer, with separate cookies and a separate cache
   */
  async openPage() {
    const context = await (await this.browser()).createBrowserContext();
    this.#leaving.push(() => context.close());
    return context.newPage();
  }

  /** Ends all processes and pages that were started, the latest ones first. */
  async leave() {
    for (const end of this.#leaving.reverse()) await end();
  }
}

/** Returns the path of npm's script for Node. */
function npm() {
  const script = npmScript();
  if (!script) throw new Skipped("npm is not found: start this by `npm run matrix`");
  return script;
}

const answers = (origin) =>
  fetch(origin, { signal: AbortSignal.timeout(30_000) }).then(
    () => true,
    () => false,
  );
