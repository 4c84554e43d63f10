/**
 * Runs each part of the benchmarks the requested number of times, and writes one report about all runs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { duration, log } from "../../../scripts/lib/output.mjs";
import { build, installPeers, placePackage } from "./peers.mjs";
import { publish } from "./report.mjs";

/**
 * The amount of work of each part: enough for reliable figures, or only enough to see that everything runs.
 */
const PLANS = {
  full: {
    validate: { rounds: 9, batchMs: 100, starts: 9 },
    service: { rounds: 4, warmUp: 1.5, seconds: 1.5, starts: 7 },
    waits: { samples: 100, takes: [5, 20, 100] },
    sizes: {},
  },
  quick: {
    validate: { rounds: 2, batchMs: 5, starts: 1 },
    service: { rounds: 1, warmUp: 0, seconds: 0.1, starts: 1 },
    waits: { samples: 4, takes: [5, 20] },
    sizes: {},
  },
};

export const PART_NAMES = Object.keys(PLANS.full);

/**
 * Runs the benchmarks, and writes their reports.
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 * @param {{parts: string[], runs: number, quick: boolean, intoDocs: boolean, build: boolean, kinds?: import("./service/requests.mjs").Kind[]}} wish
 *   `kinds` of requests to the service
 */
export async function bench(tools, { parts, runs, quick, intoDocs, build: fresh, kinds }) {
  const folder = join(tools.root, "build", "bench");
  mkdirSync(folder, { recursive: true });
  await installPeers(tools);
  if (fresh) await build(tools);
  if (parts.includes("validate") || parts.includes("sizes")) placePackage(tools);
  for (const part of parts) {
    const plan = PLANS[quick ? "quick" : "full"][part];
    // Only after the peers are installed, because these modules import them.
    const { run } = await import(`./${part}/run.mjs`);
    const { report } = await import(`./${part}/report.mjs`);
    const results = [];
    for (let number = 1; number <= runs; number += 1) {
      const started = Date.now();
      log(`${part}: run ${number} of ${runs}`);
      results.push(await run(tools, plan, join(folder, part), kinds));
      writeFileSync(join(folder, `${part}-${number}.json`), JSON.stringify(results.at(-1)));
      log(`${part}: run ${number} done in ${duration(Date.now() - started)}`);
    }
    const markdown = report(results, { bench: import.meta.dirname, root: tools.root });
    console.log(markdown);
    const file = publish(tools.root, part, markdown, intoDocs);
    log(`${part}: written to ${relative(tools.root, file)}`);
  }
}
