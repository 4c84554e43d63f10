/**
 * Runs each part of the benchmarks as often as it was asked for, and writes one report of all its
 * runs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { duration, log } from "../../scripts/lib/output.mjs";
import { ask } from "../../scripts/lib/run.mjs";
import { build, installPeers, unpackPackage } from "./peers.mjs";
import { publish } from "./report.mjs";

const SIZES = [1, 10, 100, 1_000, 10_000, 100_000];

/**
 * How much each part does: enough for figures that hold, or just enough to see that everything
 * runs.
 */
const PLANS = {
  full: {
    validate: {
      node: { rounds: 9, batchMs: 100 },
      browser: { rounds: 9, batchMs: 100 },
      starts: 9,
      growth: SIZES,
    },
    service: { rounds: 3, seconds: 2, starts: 7, soak: 60_000 },
  },
  quick: {
    validate: {
      node: { rounds: 2, batchMs: 5 },
      browser: { rounds: 2, batchMs: 5 },
      starts: 1,
      growth: SIZES.slice(0, 3),
    },
    service: { rounds: 1, seconds: 1, starts: 1, soak: 1_000 },
  },
};

const PARTS = {
  async validate(tools, plan, folder) {
    const { validateRun } = await import("./validate/run.mjs");
    return validateRun(tools, plan, folder);
  },
  async service(tools, plan, folder, run) {
    const { contest } = await import("./service/contest.mjs");
    // Memory grows with what was done, not with chance: one run shows it.
    return contest(tools, run === 1 ? plan : { ...plan, soak: 0 }, folder);
  },
};

const REPORTS = {
  async validate(_tools, runs) {
    const { validateReport } = await import("./validate/report.mjs");
    return validateReport(runs, { bench: import.meta.dirname, node: process.versions.node });
  },
  async service(tools, runs) {
    const { serviceReport } = await import("./service/report.mjs");
    return serviceReport(runs, { bench: import.meta.dirname, root: tools.root, wrk: wrkVersion() });
  },
};

export const PART_NAMES = Object.keys(PARTS);

/**
 * @param {import("../../scripts/lib/tools.mjs").Tools} tools
 * @param {{parts: string[], runs: number, quick: boolean, intoDocs: boolean, build: boolean}} wish
 */
export async function bench(tools, { parts, runs, quick, intoDocs, build: fresh }) {
  const folder = join(tools.root, "build", "bench");
  mkdirSync(folder, { recursive: true });
  await installPeers(tools);
  if (fresh) await build(tools);
  if (parts.includes("validate")) await unpackPackage(tools, folder);
  for (const part of parts)
    await benchPart(tools, part, {
      runs,
      plan: PLANS[quick ? "quick" : "full"][part],
      folder,
      intoDocs,
    });
}

async function benchPart(tools, part, { runs, plan, folder, intoDocs }) {
  const results = [];
  for (let run = 1; run <= runs; run += 1) {
    const started = Date.now();
    log(`${part}: run ${run} of ${runs}`);
    results.push(await PARTS[part](tools, plan, join(folder, part), run));
    writeFileSync(join(folder, `${part}-${run}.json`), JSON.stringify(results.at(-1)));
    log(`${part}: run ${run} done in ${duration(Date.now() - started)}`);
  }
  const markdown = await REPORTS[part](tools, results);
  console.log(markdown);
  const file = publish(tools.root, part, markdown, intoDocs);
  log(`${part}: written to ${relative(tools.root, file)}`);
}

/** `wrk debian/4.1.0-3+b2 [epoll] …`: it says so and calls that an error. */
function wrkVersion() {
  const text = ask("sh", ["-c", "wrk --version 2>&1; true"]) ?? "";
  return text.match(/(\d+\.\d+\.\d+)/)?.[1] ?? "of unknown version";
}
