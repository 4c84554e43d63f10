/** Compares the running Worker with openapi.yaml, using all phases and checks of Schemathesis. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { entry } from "../../../scripts/lib/cache.mjs";
import { ask, find, run } from "../../../scripts/lib/run.mjs";
import { scratch, tools } from "../../e2e/script.mjs";
import { startWorker } from "../../e2e/worker.mjs";

const REQUIREMENTS = join(import.meta.dirname, "schemathesis.txt");
const CONFIGURATION = join(import.meta.dirname, "schemathesis.toml");
const INSTALL_MS = 240_000;
const RUN_MS = 240_000; // an idle machine needs a quarter of a minute
const SEED = "20261122";
const NEW_ENOUGH = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
const python = ["python3", "python"]
  .map((name) => find(name))
  .find((path) => path && ask(path, ["-c", NEW_ENOUGH]) !== null);
const skip =
  python || process.env.CI
    ? false
    : "Schemathesis is Python: install Python 3.10 or newer, with its module `venv`";

/**
 * Returns the path of a Python that has exactly the packages of the requirements file. Its folder is in the
 * shared cache.
 */
async function environment() {
  const version = createHash("sha256")
    .update(readFileSync(REQUIREMENTS))
    .digest("hex")
    .slice(0, 16);
  const inside = process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];
  const folder = await entry(join(tools.cache, `schemathesis-${version}`), async (folder) => {
    await run(python, ["-m", "venv", folder], { timeout: INSTALL_MS });
    await run(
      join(folder, ...inside),
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS],
      { timeout: INSTALL_MS },
    );
  });
  return join(folder, ...inside);
}

test("no request that the description allows or forbids is answered otherwise than it says", {
  skip,
}, async (t) => {
  assert.ok(python, "Python 3.10 or newer is needed where CI is set");
  const [program, worker] = await Promise.all([environment(), startWorker()]);
  t.after(() => worker.close());
  const schemathesis = [
    "-c",
    "from schemathesis.cli import schemathesis; schemathesis()",
    "--config-file",
    CONFIGURATION,
  ];
  const options = [
    "--url",
    worker.origin,
    "--header",
    "Authorization: Bearer service_sk_test_dev_unit",
    "--checks",
    "all",
    "--max-examples",
    "25",
    "--seed",
    SEED,
  ];
  const output = await run(
    program,
    [...schemathesis, "run", join(tools.root, "docs", "openapi.yaml"), ...options],
    {
      cwd: scratch(t), // it writes files of its own
      env: { ...tools.env, PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1", NO_COLOR: "1" },
      timeout: RUN_MS,
    },
  ).catch((error) => assert.fail(error.output ?? error.message)); // the whole output shows how to send each request again
  for (const phase of ["Coverage", "Fuzzing", "Stateful"])
    assert.ok(output.includes(`✅ ${phase}`), output);
  const [, generated] = output.match(/(\d+) generated/) ?? [];
  t.diagnostic(`${generated} requests, seed ${SEED}`);
  assert.ok(Number(generated) >= 200, output);
});
