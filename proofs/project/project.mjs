/**
 * Does what an operator does with only Node and npm, in an empty folder: `npx impact-pledge-service init`, `dev`, a
 * key, a price, a create request, the dashboard, and wrangler's own dry runs. Prints how long each step takes with
 * the packages in npm's cache.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import getPort, { portNumbers } from "get-port";
import { npmScript } from "../../scripts/lib/bootstrap.mjs";
import { duration, log } from "../../scripts/lib/output.mjs";
import { find, npm, run } from "../../scripts/lib/run.mjs";
import { packService } from "../../scripts/lib/service-package.mjs";
import { bundleShop } from "../../scripts/lib/shop.mjs";
import { scratch, tools } from "../../tests/e2e/script.mjs";
import { until } from "../../tests/support/until.mjs";
import { serveRegistry } from "./registry.mjs";

const NAME = "impact-pledge-service";
const COMMAND_MS = 180_000;
const ORDER = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 3, offeringId: "oak" } }],
};

/** @param {string} home @returns {Promise<{tarball: string, manifest: any}>} */
async function pack(home) {
  const folder = join(home, NAME);
  await bundleShop(tools.root);
  await packService(tools, folder);
  await npm(["pack", folder, "--pack-destination", home, "--ignore-scripts"], { cwd: home });
  const [name = ""] = readdirSync(home).filter((file) => file.endsWith(".tgz"));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { tarball: join(home, name), manifest };
}

/** Creates a folder with `node`, `npm` and `npx`, for a PATH that contains nothing else. */
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

/** Returns functions that run steps and record how long each took. */
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

test("Node and npm alone make a project, serve it, use it, and build what a deploy uploads", async (t) => {
  const home = scratch(t);
  const { tarball, manifest } = await pack(home);
  const upstream = (await npm(["config", "get", "registry"], { cwd: home })).trim();
  const registry = await serveRegistry(tarball, manifest, upstream);
  t.after(() => registry.close());
  const { PATH: _all, ...own } = process.env;
  const kept = Object.entries(own).filter(([name]) => !name.startsWith("npm_"));
  const env = {
    ...Object.fromEntries(kept),
    PATH: nodeAlone(home),
    npm_config_registry: `${registry.origin}/`,
    npm_config_cache: join(home, "npm-cache"),
    CI: "true",
  };
  const projects = join(home, "projects");
  mkdirSync(projects);
  const npx = (cwd, ...args) => run("npx", args, { cwd, env, timeout: COMMAND_MS });
  const init = (name) => npx(projects, "--yes", NAME, "init", name);
  await init("fills-the-cache");
  rmSync(join(projects, "fills-the-cache"), { recursive: true });

  const { step, report } = steps();
  const folder = join(projects, "my-pledges");
  await step("npx impact-pledge-service init my-pledges", () => init("my-pledges"));
  const command = (...args) => npx(folder, NAME, ...args);
  const port = await getPort({ port: portNumbers(22_000, 22_999) });
  const output = { text: "", ended: false };
  const dev = spawn("npx", [NAME, "dev"], {
    cwd: folder,
    env: { ...env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [dev.stdout, dev.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output.text += text));
  const ended = new Promise((resolve) => dev.on("close", resolve)).then(() => {
    output.ended = true;
  });
  t.after(() => dev.kill("SIGKILL"));
  await step("npx impact-pledge-service dev", () =>
    until(() => output.ended || output.text.includes("Ctrl-C to stop"), COMMAND_MS),
  );
  assert.ok(!output.ended, output.text);

  const made = await step("keys create", () =>
    command("keys", "create", "--mode", "test", "--unit", "shop", "--yes", "--json"),
  );
  writeFileSync(
    join(folder, "own.json"),
    JSON.stringify({ currencyCode: "EUR", unitPrices: { oak: "0.70" } }),
  );
  await step("prices set", () => command("prices", "set", "own.json", "--mode", "test", "--yes"));
  const origin = `http://127.0.0.1:${port}`;
  const { id, charge } = await step("a create", async () => {
    const headers = {
      authorization: `Bearer ${JSON.parse(made).key}`,
      "content-type": "application/json",
    };
    const body = JSON.stringify(ORDER);
    const answer = await fetch(`${origin}/v2/pledge-transaction`, {
      method: "POST",
      headers,
      body,
    });
    return answer.json();
  });
  assert.deepEqual([charge.amount, charge.currencyCode], ["2.10", "EUR"]);
  const [, dashboard = ""] = output.text.match(/the dashboard +(http\S+)/) ?? [];
  const page = await step("the dashboard's page of it", async () =>
    (await fetch(`${dashboard}transactions/${id}`)).text(),
  );
  assert.match(page, /2\.10 EUR/);
  for (const config of ["wrangler.toml", "wrangler.dashboard.toml"]) {
    const dry = ["wrangler", "deploy", "--dry-run", "--config", config];
    const said = await step(`npx ${dry.join(" ")}`, () => npx(folder, ...dry));
    assert.match(said, /--dry-run: exiting now/);
  }
  await step("the end of dev", async () => {
    dev.kill("SIGTERM");
    await ended;
  });
  await assert.rejects(fetch(origin));
  report();
});
