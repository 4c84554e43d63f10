/**
 * Writes the data of local development: API keys that are public, a few prices and demo transactions. It is never
 * written to a deployed namespace.
 */
import { openKv } from "./kv.mjs";
import { operate } from "./operations.mjs";
import { operator, portOf } from "./operator.mjs";

/**
 * Returns the development keys, and their records for a caller that has its own namespace.
 * @returns {Promise<{keys: {key: string, record: object, units: string[]}[], entries: import("./kv.mjs").Entry[]}>}
 */
export async function seedData(tools) {
  const { seed } = await operator(tools);
  const entries = [];
  const keys = await seed({
    read: async (names) => names.map(() => ({ value: null, metadata: null })),
    write: async (entry) => void entries.push(entry),
  });
  return { keys, entries };
}

/**
 * Writes the development records that are missing from local KV, and does not change records that exist. Demo
 * transactions of three months, for the dashboard, are written once, and so are updates for their timelines. The ledger is created before the two Workers
 * start, because they would cause errors in each other if both created it. Then missing rows are added to the ledger,
 * because its queue is in memory and loses its messages when it ends. `origin` is the service's.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {{persistTo?: string, origin: string}} options
 */
export async function seed(tools, { persistTo, origin }) {
  const kv = await openKv(tools, { persistTo });
  try {
    const { seed: seedKeys, seedDemo, seedUpdates } = await operator(tools);
    const keys = await seedKeys(portOf(kv));
    await seedDemo(portOf(kv), origin);
    await kv.ledger?.ready();
    if (kv.ledger) {
      await operate(tools, portOf(kv), "ledger", "check");
      await seedUpdates(portOf(kv));
    }
    return keys;
  } finally {
    await kv.close();
  }
}
