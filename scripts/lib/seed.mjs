/**
 * The data of local development: keys that anybody can know, and a few prices. Never for a deployed
 * namespace.
 */
import { openKv } from "./kv.mjs";
import { operate } from "./operations.mjs";
import { operator, portOf } from "./operator.mjs";

/**
 * The keys, and the records for whoever has a namespace at hand.
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
 * Writes the records that are missing from local KV, and leaves the others as the user has them. What the dashboard shows,
 * orders of three months, is written once. The ledger is made before two Workers start, which would break each other's; and
 * gets what it lacks: messages of its queue are in memory, and lost with it. `origin`: the service's.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {{persistTo?: string, origin: string}} options
 */
export async function seed(tools, { persistTo, origin }) {
  const kv = await openKv(tools, { persistTo });
  try {
    const { seed: seedKeys, seedDemo } = await operator(tools);
    const keys = await seedKeys(portOf(kv));
    await seedDemo(portOf(kv), origin);
    await kv.ledger?.ready();
    if (kv.ledger) await operate(tools, portOf(kv), "ledger", "check");
    return keys;
  } finally {
    await kv.close();
  }
}
