/**
 * Does what an operator with only Node and npm does, in an empty folder. Prints the time that each step
 * takes once npm has cached the packages.
 *
 * Runs `npx impact-pledge-service init` and `dev`. Creates a key, a price and a pledge transaction. Opens the
 * dashboard, and makes wrangler's dry runs.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { testPort } from "../../support/port.mjs";
import { npmScript } from "../../../scripts/lib/bootstrap.mjs";
import { duration, log } from "../../../scripts/lib/output.mjs";
import { find, npm, run } from "../../../scripts/lib/run.mjs";
import { bundleShop } from "../../../scripts/lib/shop.mjs";
import { NAME, packed } from "../../e2e/packed-service.mjs";
import { scratch, tools } from "../../e2e/script.mjs";
import { until } from "../../support/until.mjs";
import { serveRegistry } from "./registry.mjs";

const COMMAND_MS = 180_000;
const ORDER = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 3, offeringId: "oak" } }],
};

/** Serves the packed package as npm's registry does. @returns {Promise<string>} the registry's origin */
async function published(t, home) {
  await bundleShop(tools.root);
  const { folder, tarball } = await packed(home);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const upstream = (await npm(["config", "get", "registry"], { cwd: home })).trim();
  const registry = await serveRegistry(tarball, manifest, upstream);
  t.after(() => registry.close());
  return registry.origin;
}

/** Creates a folder for PATH that contains only `node`, `npm`, `npx` and the shell that npm needs. */
function nodeAlone(home) {
  const bin = join(home, "bin");
  mkdirSync(bin);
  const npmCli = npmScript() ?? realpathSync(find("npm") ?? "");
  symlinkSync(find("sh") ?? "", join(bin, "sh")); // npm runs a package's scripts by it
  symlinkSync(process.execPath, join(bin, "node"));
  symlinkSync(npmCli, join(bin, "npm"));
  symlinkSync(join(dirname(npmCli), "npx-cli.js"), join(bin, "npx"));
  return bin;
}

/** Returns the environment variables of a user who has no Rust and whose npm uses this registry. */
function userEnv(home, registry) {
  const { PATH: _all, ...own } = process.env;
  const kept = Object.entries(own).filter(([name]) => !name.startsWith("npm_"));
  return {
    ...Object.fromEntries(kept),
    PATH: nodeAlone(home),
    npm_config_registry: `${registry}/`,
    npm_config_cache: join(home, "npm-cache"),
    CI: "true",
  };
}

/** Returns two functions: `step` runs a step and measures its time, and `report` prints all times. */
function steps() {
  /** @type {[string, number][]} */
  const taken = [];
  const step = async (name, work) => {
    const started = Date.now();
    const result = await work();
    taken.push([name, Date.now() - started]);
    return result;
  };
  const report = () => {
    for (const [name, ms] of taken) log(`${duration(ms).padStart(10)}  ${name}`);
    log(`${duration(taken.reduce((sum, [, ms]) => sum + ms, 0)).padStart(10)}  together`);
  };
  return { step, report };
}

/**
 * Starts `dev`. The returned `ready` waits until `dev` serves, and returns the dashboard's URL. The returned
 * `end` stops `dev` with a signal.
 */
function startDev(t, folder, env) {
  const child = spawn("npx", [NAME, "dev"], { cwd: folder, env, stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  let [output, isEnded] = ["", false];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  const ended = new Promise((resolve) => child.on("close", resolve)).then(() => (isEnded = true));
  const ready = async () => {
    await until(() => isEnded || output.includes("Ctrl-C to stop"));
    assert.ok(!isEnded, output);
    return output.match(/the dashboard +(http\S+)/)?.[1] ?? "";
  };
  const end = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { ready, end };
}

async function create(origin, key) {
  const response = await fetch(`${origin}/v2/pledge-transaction`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(ORDER),
  });
  return response.json();
}

test("Node and npm alone make a project, serve it, use it, and build what a deploy uploads", async (t) => {
  const home = scratch(t);
  const env = userEnv(home, await published(t, home));
  const projects = join(home, "projects");
  mkdirSync(projects);
  const npx = (cwd, ...args) => run("npx", args, { cwd, env, timeout: COMMAND_MS });
  const init = (name) => npx(projects, "--yes", NAME, "init", name);
  await init("fills-the-cache");
  rmSync(join(projects, "fills-the-cache"), { recursive: true });

  const { step, report } = steps();
  const folder = join(projects, "my-pledges");
  const command = (...args) => step(args.join(" "), () => npx(folder, NAME, ...args));
  await step("init my-pledges", () => init("my-pledges"));
  const port = await testPort();
  const origin = `http://127.0.0.1:${port}`;
  const dev = startDev(t, folder, { ...env, PORT: String(port) });
  const dashboard = await step("dev", dev.ready);

  const testMode = ["--mode", "test", "--yes"];
  const { key } = JSON.parse(
    await command("keys", "create", "--unit", "shop", ...testMode, "--json"),
  );
  const prices = JSON.stringify({ currencyCode: "EUR", unitPrices: { oak: "0.70" } });
  writeFileSync(join(folder, "own.json"), prices);
  await command("prices", "set", "own.json", ...testMode);
  const { id, charge } = await step("a create request", () => create(origin, key));
  assert.deepEqual([charge.amount, charge.currencyCode], ["2.10", "EUR"]);
  const page = await step("the dashboard's page of it", async () =>
    (await fetch(`${dashboard}transactions/${id}`)).text(),
  );
  assert.match(page, /2\.10 EUR/);
  for (const config of ["wrangler.toml", "wrangler.dashboard.toml"]) {
    const dry = ["wrangler", "deploy", "--dry-run", "--config", config];
    const said = await step(dry.join(" "), () => npx(folder, ...dry));
    assert.match(said, /--dry-run: exiting now/);
  }
  await step("the end of dev", dev.end);
  await assert.rejects(fetch(origin));
  report();
});
