/** Compares the running Worker with openapi.yaml, using all phases and checks of Schemathesis. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { run } from "../../../scripts/lib/run.mjs";
import { scratch, tools } from "../../e2e/script.mjs";
import { startWorker } from "../../e2e/worker.mjs";
import { python, pythonEnvironment } from "../python.mjs";

const REQUIREMENTS = join(import.meta.dirname, "schemathesis.txt");
const CONFIGURATION = join(import.meta.dirname, "schemathesis.toml");
const RUN_MS = 240_000; // an idle machine needs a quarter of a minute
const SEED = "20261122";
const skip =
  python || process.env.CI
    ? false
    : "Schemathesis is Python: install Python 3.11 or newer, with its module `venv`";

test("no request that the description allows or forbids is answered otherwise than it says", {
  skip,
}, async (t) => {
  assert.ok(python, "Python 3.11 or newer is needed where CI is set");
  const [programs, worker] = await Promise.all([
    pythonEnvironment(tools, "schemathesis", REQUIREMENTS),
    startWorker(),
  ]);
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
    join(programs, "python"),
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
