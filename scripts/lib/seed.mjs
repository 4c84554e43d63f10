/** The data of local development: keys that anybody can know, and a few prices. Never for a deployed namespace. */
import { openKv } from "./kv.mjs";
import { operator } from "./operator.mjs";

/** The keys, and the records for whoever has a namespace at hand. @returns {Promise<{keys: {key: string, record: object}[], entries: import("./kv.mjs").Entry[]}>} */
export const seedData = (tools) => operator(tools, "seed");

/** Writes the records that are missing from local KV, and leaves the others as the user has them. */
export async function seed(tools, { persistTo }) {
  const { keys, entries } = await seedData(tools);
  const kv = await openKv(tools, { persistTo });
  try {
    const found = await Array.fromAsync(kv.read(entries.map(({ key }) => key)));
    await kv.write(entries.filter((_, index) => found[index].value === null));
  } finally {
    await kv.close();
  }
  return keys;
}
