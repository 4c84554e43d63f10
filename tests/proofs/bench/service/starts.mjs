/**
 * Measures the start of a Worker on workerd: the time to its first answer, and the duration of a create
 * request that is its first request.
 */
import { performance } from "node:perf_hooks";
import { log } from "../../../../scripts/lib/output.mjs";
import { rotated } from "../numbers.mjs";
import { creates, send } from "./requests.mjs";
import { Server } from "./workerd.mjs";

/**
 * The start of a Worker, measured in two processes.
 * @typedef {{answer: number, create: number}} Start times in milliseconds. `answer`: from the start of the
 *   first process to its first answer, a 404; `create`: the duration of a create request, the first request
 *   to the second process
 */

/**
 * Measures how long each Worker takes to start.
 * @param {any} setting the settings of the benchmark run
 * @param {import("./run.mjs").Arm[]} arms the Workers
 * @returns {Promise<Record<string, Start[]>>} the starts of each Worker, by the Worker's key. The key `eager`
 *   stands for our Worker with wasm that was compiled beforehand
 */
export async function startsOf({ tools, plan, seeds }, arms) {
  const chosen = arms.filter(({ key }) => !["twin", "safe"].includes(key)); // these start like two of the others
  const all = [...chosen, { ...chosen[0], key: "eager" }];
  /** @type {Record<string, Start[]>} */
  const results = Object.fromEntries(all.map(({ key }) => [key, []]));
  for (let round = 0; round < plan.starts; round += 1) {
    log(`service: start ${round + 1} of ${plan.starts}`);
    for (const arm of rotated(all, round)) {
      const inNewProcess = async (use) => {
        const server = await Server.start(tools, arm, { eager: arm.key === "eager" });
        return use(server, seeds).finally(() => server.end());
      };
      const answer = await inNewProcess(firstAnswer);
      results[arm.key].push({ answer, create: await inNewProcess(firstCreate) });
    }
  }
  return results;
}

/** @param {Server} server */
async function firstAnswer(server) {
  await send(server.origin, { method: "GET", path: "/none", headers: {} }).catch(() => null); // the limit with one KV call fails here
  return performance.now() - server.spawnedAt;
}

/** @param {Server} server */
async function firstCreate(server, seeds) {
  await server.seed(seeds);
  const [request] = creates(1, 1);
  const started = performance.now();
  const { status } = await send(server.origin, request);
  if (status !== 200) throw new Error(`a create was answered with ${status}`);
  return performance.now() - started;
}
