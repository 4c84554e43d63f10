/**
 * Generates clients from openapi.yaml, and runs the samples of docs/other-languages.md with them against the service that
 * `npx impact-pledge serve` runs: create, repeat, get, 401, 404 and 400.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { entry } from "../../../scripts/lib/cache.mjs";
import { npm, run } from "../../../scripts/lib/run.mjs";
import { scratch, tools } from "../../e2e/script.mjs";
import { blocksOf } from "../../support/examples.mjs";
import { testPort } from "../../support/port.mjs";
import { until } from "../../support/until.mjs";
import { python, pythonEnvironment } from "../python.mjs";
import { LANGUAGES, missing } from "./languages.mjs";

const HERE = import.meta.dirname;
const PAGE = join(tools.root, "docs", "other-languages.md");
const GENERATE_MS = 300_000;
const KEY = "service_sk_test_dev_unit";
const IDEMPOTENCY_KEY = "web:shop.example.org:1001";
const NOWHERE = "ptran_f74hxzdgxljvqeegtsq7kummqadht4ietopodwyawa";

/** @type {Awaited<ReturnType<typeof serve>>} */
let service;
/** @type {import("./languages.mjs").Programs} */
let programs;
/** The transactions that the unchanged samples have made, by language. @type {Map<string, string>} */
const made = new Map();

before(async () => {
  if (!python) return;
  [service, programs] = await Promise.all([serve(), installed()]);
});
after(() => service?.close());

/** Starts the service of the built package, as the page says. */
async function serve() {
  const port = await testPort();
  const command = join(tools.root, "pkg", "bin", "impact-pledge.js");
  const child = spawn(process.execPath, [command, "serve", "--port", String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  await until(() => said.includes("The service runs on") || child.exitCode !== null);
  assert.equal(child.exitCode, null, said);
  return { origin: `http://127.0.0.1:${port}`, close: () => child.kill() };
}

/** Installs the generators, each in its pinned version. */
async function installed() {
  const bin = await pythonEnvironment(tools, "clients", join(HERE, "requirements.txt"));
  const own = join(bin, "python");
  const where = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
  const site = (await run(own, ["-c", where])).trim();
  return {
    python: own,
    java: "java",
    jar: join(site, "openapi_generator_cli", "openapi-generator.jar"),
    go: join(site, "go", "bin", "go"),
    packages: await npmPackages(),
    env: { ...tools.env, GOCACHE: join(tools.cache, "go"), GOPATH: join(tools.cache, "gopath") },
  };
}

async function npmPackages() {
  const lock = readFileSync(join(HERE, "package-lock.json"));
  const version = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  return entry(join(tools.cache, `clients-npm-${version}`), async (folder) => {
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(join(HERE, file), join(folder, file));
    await npm(["ci", "--ignore-scripts", "--loglevel=error"], { cwd: folder, env: tools.env });
  });
}

/** Runs the command with which a section of the page generates the client. */
async function generate(command, { folder }) {
  const [name, ...args] = command.trim().replace(/^npx /, "").split(" ");
  const [program, before] = {
    "openapi-generator-cli": [programs.java, ["-jar", programs.jar]],
    "openapi-python-client": [programs.python, ["-m", "openapi_python_client"]],
    "openapi-typescript": [
      process.execPath,
      [join(programs.packages, "node_modules/openapi-typescript/bin/cli.js")],
    ],
  }[name];
  const env = { ...programs.env, NO_COLOR: "1", PYTHONUTF8: "1" };
  await run(program, [...before, ...args], { cwd: folder, env, timeout: GENERATE_MS });
}

/** Returns the command and the sample of a language's section. */
function sectionOf({ block }) {
  const blocks = blocksOf(PAGE);
  const index = blocks.findIndex(({ language }) => language === block);
  return { command: blocks[index - 1]?.code ?? "", code: blocks[index]?.code ?? "" };
}

for (const language of LANGUAGES) {
  const lacking = python ? missing(language) : ["python3"];
  const skip =
    lacking.length > 0 && !process.env.CI
      ? `this machine has no ${lacking.join(", ")} (Debian: apt-get install ${language.install || "python3-venv"})`
      : false;
  test(`${language.name}: the generated client creates, repeats and reads, and is refused with 400, 401 and 404`, {
    skip,
  }, async (t) => {
    assert.deepEqual(lacking, [], "all languages are tried where CI is set");
    const project = { folder: scratch(t), programs };
    copyFileSync(join(tools.root, "docs", "openapi.yaml"), join(project.folder, "openapi.yaml"));
    symlinkSync(
      join(programs.packages, "node_modules"),
      join(project.folder, "node_modules"),
      "junction",
    );
    const { command, code } = sectionOf(language);
    await generate(command, project);
    await language.prepare?.(project);
    const play = async (text, key = KEY) => {
      writeFileSync(join(project.folder, language.file), text);
      const env = { ...programs.env, PLEDGE_BASE_URL: service.origin, PLEDGE_API_KEY: key };
      return language.sample(project, env).then(
        (said) => said.trim(),
        (error) => error.output.trim(),
      );
    };
    /** Returns the sample with one text replaced. */
    const changed = (from, to) => {
      assert.ok(code.includes(from), `the sample of ${language.name} has no ${from}`);
      return code.replace(from, () => to);
    };
    const own = changed(IDEMPOTENCY_KEY, `${IDEMPOTENCY_KEY}:${language.name}`);
    const [, id] = (await play(own)).match(/^(ptran_\w+) 1\.50 order-1001$/) ?? [];
    assert.ok(id, await play(own));
    assert.equal(await play(own), `${id} 1.50 order-1001`, "a repeat is the same transaction");
    made.set(language.name, (await play(code)).split(" ")[0] ?? "");

    const get =
      code
        .split("\n")
        .find(
          (line) =>
            /get_?pledge_?transaction.*\(|\.GET\(/i.test(line) && line.includes(language.id),
        ) ?? "";
    const at = get.lastIndexOf(language.id);
    const lost = `${get.slice(0, at)}${language.block === "ts" ? `id: "${NOWHERE}"` : `"${NOWHERE}"`}${get.slice(at + language.id.length)}`;
    assert.match(await play(changed(get, lost)), /refused: 404.*Pledge transaction not found/);
    assert.match(await play(code, "service_sk_test_wrong"), /refused: 401.*Check the API key/);
    const wrong = changed("ada@example.org", "ada@");
    assert.match(await play(wrong), /refused: 400.*`\/recipient\/email`/);
  });
}

test("the same order with the same idempotency key is one transaction, whichever language sends it", (t) => {
  if (made.size < 2) return t.skip("fewer than two languages were tried");
  assert.deepEqual([...new Set(made.values())].length, 1, JSON.stringify([...made]));
  assert.match([...made.values()][0] ?? "", /^ptran_/);
});
