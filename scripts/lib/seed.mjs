/**
 * Writes the data for local development: public API keys, a few prices and demo transactions. Never writes to
 * a deployed namespace.
 */
import { openKv } from "./kv.mjs";
import { operate } from "./operations.mjs";
import { operator, portOf } from "./operator.mjs";

/**
 * Returns the development keys and their records. A caller with its own namespace writes the records itself.
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
 * Writes the development records that local KV lacks, and leaves existing records unchanged. Writes demo
 * transactions of three months, and updates for their timelines, only once.
 *
 * Creates the ledger before the two Workers start, because they would disturb each other if both created it.
 * Then adds the rows that the ledger lacks. Rows may be missing because the local queue is in memory, and can
 * lose messages.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {{persistTo?: string, origin: string}} options `origin`: the service's origin
 */
export async function seed(tools, { persistTo, origin }) {
  const kv = await openKv(tools, { persistTo });
  try {
    const { seed: seedKeys, seedDemo, seedUpdates } = await operator(tools);
    const keys = await seedKeys(portOf(kv));
    if (kv.ledger) {
      await kv.ledger.ready();
      await seedDemo(portOf(kv), origin);
      await operate(tools, portOf(kv), "ledger", "check");
      await seedUpdates(portOf(kv));
    }
    return keys;
  } finally {
    await kv.close();
  }
}
