/**
 * Tests the npm package `impact-pledge-service`. It is packed, and then used in an empty folder where only
 * Node is installed.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after } from "node:test";
import { run as program } from "../../scripts/lib/run.mjs";
import { bundleShop } from "../../scripts/lib/shop.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { testPort } from "../support/port.mjs";
import { until } from "../support/until.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { NAME, packed } from "./packed-service.mjs";
import { scratch, tools } from "./script.mjs";

const MOST_BYTES = 6_000_000; // limit of the tarball

await bundleShop(tools.root);
const shared = mkdtempSync(join(tmpdir(), "impact-pledge-service-"));
after(() => rmSync(shared, { recursive: true, force: true }));
const build = await packed(shared);

/**
 * Creates a project with the package installed. Returns functions that run commands in it; their PATH
 * contains only Node.
 */
async function projectOf(t) {
  const { tarball } = build;
  const home = scratch(t);
  await program("tar", ["xzf", tarball, "-C", home]);
  const { dependencies } = JSON.parse(readFileSync(join(home, "package", "package.json"), "utf8"));
  const install = (folder) => {
    for (const name of Object.keys(dependencies)) {
      const place = join(folder, "node_modules", name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(tools.root, "node_modules", name), place, "junction");
    }
  };
  install(home);
  const env = { PATH: dirname(process.execPath), HOME: homedir(), CI: "true" };
  const start = (cwd, entry, args, more = {}) => {
    const child = spawn(process.execPath, [entry, ...args], {
      cwd,
      env: { ...env, ...more },
      stdio: "pipe",
    });
    const texts = { out: "", problem: "" };
    child.stdout.setEncoding("utf8").on("data", (text) => (texts.out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (texts.problem += text));
    const done = new Promise((resolve) => child.on("close", (code) => resolve({ code, ...texts })));
    return Object.assign(child, { done, out: () => texts.out });
  };
  const unpacked = join(home, "package", "scripts", "service.mjs");
  const init = (folder) => start(home, unpacked, ["init", folder, "--no-install"]).done;
  const made = await init("my-pledges");
  assert.equal(made.code, 0, made.problem);
  assert.match(
    made.problem,
    /^ {2}cd my-pledges\n {2}npm install\n {2}npx impact-pledge-service dev$/m,
  );
  const folder = join(home, "my-pledges");
  install(folder);
  symlinkSync(join(home, "package"), join(folder, "node_modules", NAME), "junction");
  const entry = join(folder, "node_modules", NAME, "scripts", "service.mjs");
  const begin = (args, more) => start(folder, entry, args, more);
  const command = async (...args) => {
    const { code, out, problem } = await begin(args).done;
    assert.equal(code, 0, problem);
    return out + problem;
  };
  const outside = (args, more) => start(home, unpacked, args, more);
  return { folder, init, begin, outside, command };
}

test("two builds have the same bytes, which are few, without anything of this machine and without Rust sources", async (t) => {
  const [first, second] = [build, await packed(scratch(t))];
  const bytes = readFileSync(first.tarball);
  const hash = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
  assert.equal(hash(first.tarball), hash(second.tarball));
  assert.ok(bytes.length < MOST_BYTES, `${bytes.length}`);
  const names = readdirSync(first.folder, { encoding: "utf8", recursive: true });
  const files = names.filter((name) => statSync(join(first.folder, name)).isFile());
  for (const name of files) {
    const text = readFileSync(join(first.folder, name), "latin1");
    assert.ok(!text.includes(tools.root) && !text.includes(`${homedir()}/`), name);
    assert.doesNotMatch(name, /\.rs$|Cargo|\/(tools|rust|wasm|package)\.mjs$/);
  }
  const SERVICE = ["broken.js", "impact_pledge.js", "impact_pledge_bg.wasm", "no-registry.js"];
  const FOLDERS = ["consumer", "dashboard", "snippets", "www"];
  assert.deepEqual(
    readdirSync(join(first.folder, "build")).sort(),
    [...SERVICE, "recover.js", "worker.js", ...FOLDERS].sort(),
  );
  const manifest = JSON.parse(readFileSync(join(first.folder, "package.json"), "utf8"));
  for (const version of Object.values(manifest.dependencies))
    assert.match(version, /^\d+\.\d+\.\d/);
});

test("Node alone creates a project, serves it, and runs commands on its records", async (t) => {
  const { folder, init, begin, outside, command } = await projectOf(t);
  const other = await onLoopback(createServer());
  t.after(other.close);
  const { port: taken } = new URL(other.origin); // a folder without a project is named before a port that is in use
  for (const args of [["keys", "list"], ["dev"], ["migrate"], ["deploy", "--dry-run"]]) {
    const { code, problem } = await outside(args, { PORT: taken }).done;
    assert.equal(code, 1, problem);
    assert.match(
      problem,
      /^stopped: there is no wrangler\.toml in .+: run this in the folder that `npx /m,
    );
  }
  assert.ok(!existsSync(join(dirname(folder), ".wrangler")));
  const again = await init("my-pledges");
  assert.equal(again.code, 1);
  assert.match(again.problem, /my-pledges already has .*wrangler\.toml.*: .*Nothing was written/);
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  assert.match(dependencies[NAME], /^\d+\.\d+\.\d+$/);
  for (const toml of ["wrangler.toml", "wrangler.dashboard.toml"])
    assert.doesNotMatch(readFileSync(join(folder, toml), "utf8"), /^\[build\]|npm run/m);

  const port = await testPort();
  const dev = begin(["dev"], { PORT: String(port) });
  t.after(() => dev.kill("SIGKILL"));
  let end;
  dev.done.then((how) => {
    end = how;
  });
  await until(() => end || dev.out().includes("Press Ctrl-C to stop"));
  assert.ok(!end, end?.problem);
  const origin = `http://127.0.0.1:${port}`;
  const { key } = JSON.parse(
    await command("keys", "create", "--mode", "test", "--unit", "shop", "--yes", "--json"),
  );
  writeFileSync(
    join(folder, "own.json"),
    '{ "currencyCode": "EUR", "unitPrices": { "oak": "0.70" } }',
  );
  await command("prices", "set", "own.json", "--mode", "test", "--yes");
  const response = await fetch(`${origin}/v2/pledge-transaction`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      reference: "order-1",
      recipient: { email: "ada@example.org" },
      pledges: [{ impact: { amount: 3, offeringId: "oak" } }],
    }),
  });
  const { id, charge } = await response.json();
  assert.deepEqual([charge.amount, charge.currencyCode], ["2.10", "EUR"]);
  assert.match(await command("transactions", "show", id), /^Charge +2\.10 EUR$/m);
  const [, dashboard] = dev.out().match(/the dashboard +(http\S+)/) ?? [];
  assert.match(await (await fetch(dashboard)).text(), /operator@small-hours\.example/);
  assert.match(await (await fetch(`${origin}/`)).text(), /<form id="checkout"/);
  dev.kill("SIGTERM");
  assert.equal((await dev.done).code, 0);
  assert.match(await command("migrate"), /The ledger's tables are up to date/);
  const help = await command("keys", "create", "--help");
  assert.match(help, /^Usage: npx impact-pledge-service keys create/);
  assert.equal(await command("help", "keys", "create"), help);
  assert.match(await command("help"), /^ {2}credits .*\n/m);
  assert.equal(
    await command("--version"),
    `${JSON.parse(readFileSync(join(build.folder, "package.json"), "utf8")).version}\n`,
  );
  for (const [words, problem] of [
    [
      ["key"],
      /^unknown command 'key'\n\(Did you mean keys\?\)\nSee `npx impact-pledge-service --help`\.\n$/,
    ],
    [["help", "dpeloy"], /^unknown command 'dpeloy'\n\(Did you mean deploy\?\)\n/],
    [["keys", "create"], /See `npx impact-pledge-service keys create --help`\.\n$/],
    [[], /^Usage: npx impact-pledge-service \[options\] \[command\]\n/],
  ]) {
    const wrong = await begin(words).done;
    assert.deepEqual([wrong.code, wrong.out], [2, ""], `${words}`);
    assert.match(wrong.problem, problem);
  }
});

test("a deploy uploads both Workers and migrates the ledger, and a second deploy finds their resources", async (t) => {
  const { folder, begin } = await projectOf(t);
  const { env, account } = await cloudflare(t, { deployed: false });
  const api = Object.fromEntries(
    Object.entries(env).filter(([name]) => name.startsWith("CLOUDFLARE")),
  );
  const deploy = async (...args) => {
    const { code, out, problem } = await begin(["deploy", ...args], api).done;
    assert.equal(code, 0, out + problem);
    return out + problem;
  };
  for (const option of ["--name=x", "--config=wrangler.toml", "--domains=pledges.example"]) {
    const { code, problem } = await begin(["deploy", option], api).done;
    assert.equal(code, 1);
    assert.match(
      problem,
      /is for one Worker: add `--service` or `--dashboard`\. Nothing was deployed/,
    );
  }
  const wrong = await begin(["deploy", "--operator", "ada"], api).done;
  assert.match(wrong.problem, /`ada` is not an e-mail address/);
  assert.deepEqual([wrong.code, account.uploads], [1, []]);
  const dry = await deploy("--dry-run");
  assert.equal(dry.match(/--dry-run: exiting now/g)?.length, 2);
  assert.deepEqual([...account.bindings], []);
  const said = await deploy("--operator", "ada@shop.example");
  assert.match(said, /created the D1 database `impact-pledge-ledger`/);
  assert.match(said, /^ada@shop\.example is the first operator/m);
  assert.deepEqual([...account.bindings.keys()].sort(), [
    "impact-pledge",
    "impact-pledge-dashboard",
  ]);
  const databases = account.databases.length;
  const again = await deploy();
  assert.doesNotMatch(again, /created the D1 database|OPERATORS/);
  assert.match(again, /`impact-pledge-dashboard` of Cloudflare Access protects the dashboard/);
  assert.deepEqual([account.databases.length, account.apps.length], [databases, 1]);
  assert.deepEqual(readdirSync(join(folder, ".wrangler", "deploy")).sort(), ["dashboard"]);
});
