/** The start of a Worker on workerd: its first answer, its first create, and what of that is compiling wasm. */
import { performance } from "node:perf_hooks";
import { log } from "../../../scripts/lib/output.mjs";
import { median, rotated } from "../numbers.mjs";
import { creates, send } from "./requests.mjs";
import { Server } from "./workerd.mjs";

/** Creates after the first one, one at a time; the last half of them counts. */
const LATER = 20;

/**
 * Milliseconds of two starts. No KV is read before `create`.
 * @typedef {{answer: number, create: number, second: number, later: number}} Warm `answer`: from the start of the process to
 *   the first answer, a 404; `create`: the first create after that; `second`: the next one; `later`: one of those after it
 * @typedef {Warm & {cold: number}} Start `cold`: a create as the first request of another process
 */

/**
 * @param {any} setting of the run
 * @param {import("./run.mjs").Arm[]} arms
 * @returns {Promise<Record<string, Start[]>>} by the keys of the Workers; `eager`: ours with its wasm compiled beforehand
 */
export async function startsOf({ tools, plan, seeds }, arms) {
  const chosen = arms.filter(({ key }) => !["twin", "safe"].includes(key)); // which start as two others do
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
      const warm = await inNewProcess(warmStart);
      results[arm.key].push({ ...warm, cold: await inNewProcess(coldStart) });
    }
  }
  return results;
}

/** @param {Server} server @returns {Promise<Warm>} */
async function warmStart(server, seeds) {
  await send(server.origin, { method: "GET", path: "/none", headers: {} }).catch(() => null); // one KV call fails on it
  const answer = performance.now() - server.spawnedAt;
  await server.seed(seeds);
  const times = [];
  for (const request of creates(1 + LATER, 1)) times.push(await timeOf(server, request));
  return { answer, create: times[0], second: times[1], later: median(times.slice(-LATER / 2)) };
}

/** @param {Server} server */
async function coldStart(server, seeds) {
  await server.seed(seeds);
  const [request] = creates(1, 1);
  return timeOf(server, request);
}

/** Milliseconds of a create. */
async function timeOf(server, request) {
  const started = performance.now();
  const { status } = await send(server.origin, request);
  if (status !== 200) throw new Error(`a create was answered with ${status}`);
  return performance.now() - started;
}
