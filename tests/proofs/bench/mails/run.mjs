/**
 * `node scripts/run.mjs ../tests/proofs/bench/mails/run`: measures how many e-mails per hour the queue's consumer
 * sends on workerd. The rate depends on how many messages the queue delivers at once (`max_concurrency`).
 * Workers KV and the mail service are stand-ins, as slow as the real ones may be on Cloudflare. Run
 * `npm run build -- worker` first.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { UserError, log, table } from "../../../../scripts/lib/output.mjs";
import { seedData } from "../../../../scripts/lib/seed.mjs";
import { prepareTools } from "../../../../scripts/setup/tools.mjs";
import { Server, bundle } from "../service/workerd.mjs";

/**
 * How long each call to Workers KV (`read`, `write`, `list`) and to the mail service (`mail`) takes, in
 * milliseconds.
 */
const TAKES = { read: 30, write: 150, list: 150, mail: 400 };
const CONCURRENCIES = [1, 5, 20, 50];
/** The number of messages that each concurrent consumer receives, one after another. */
const ROUNDS = 12;
const KEY = "service_sk_live_dev_unit";
const SHOP = { name: "Small Hours Coffee", mail: true };

const order = (number) => ({
  reference: `order-${number}`,
  recipient: { email: `buyer-${number}@shop.example` },
  pledges: [
    {
      impact: { amount: 3, offeringId: "tree" },
      detail: { nounSingular: "tree", nounPlural: "trees" },
    },
  ],
  notifications: ["Email"],
});

const tools = await prepareTools();
const folder = mkdtempSync(join(tmpdir(), "impact-pledge-mails-"));
const main = join(import.meta.dirname, "worker.mjs");
const server = await Server.start(tools, await bundle(tools, { main, folder }));

async function ask(path, headers, body) {
  const options = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(server.origin + path, options);
  if (!response.ok) throw new UserError(`${path}: status ${response.status}`);
  return response.json();
}

const created = (number) => {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  return ask("/v2/pledge-transaction", headers, order(number));
};

/** Delivers messages one after another. */
async function consume(messages) {
  for (const message of messages) {
    const end = await ask("/delivery", { "x-takes": JSON.stringify(TAKES) }, message);
    if (!end.acked) throw new UserError(`a message was not sent: ${JSON.stringify(end)}`);
  }
}

try {
  const { entries } = await seedData(tools);
  await server.seed([...entries, { key: "profile:unit_dev", value: JSON.stringify(SHOP) }]);
  let orders = 0;
  const rows = [];
  for (const concurrency of CONCURRENCIES) {
    const queues = [];
    for (let index = 0; index < concurrency; index += 1) {
      const queue = [];
      for (let round = 0; round < ROUNDS; round += 1) queue.push(await created(orders++));
      queues.push(queue);
    }
    await consume([await created(orders++)]); // compiles the functions that are not compiled yet
    const began = performance.now();
    await Promise.all(queues.map(consume));
    const each = (performance.now() - began) / ROUNDS;
    const hourly = Math.round((concurrency * 3_600_000) / each);
    rows.push([concurrency, `${Math.round(each)} ms`, hourly].map(String));
  }
  const { read, write, list, mail } = TAKES;
  log(
    `Workers KV reads in ${read} ms, writes in ${write} ms, lists in ${list} ms; the mail service takes ${mail} ms`,
  );
  console.log(table(["AT ONCE", "EACH", "AN HOUR"], rows));
} finally {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
}
