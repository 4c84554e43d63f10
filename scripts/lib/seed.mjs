/** The data of local development: keys that anybody can know, and a few prices. Never for a deployed namespace. */
import { Kv } from "./kv.mjs";
import { operator } from "./operator.mjs";

/** The keys, and the records for whoever has a namespace at hand. @returns {Promise<{keys: {key: string, record: object}[], entries: import("./kv.mjs").Entry[]}>} */
export const seedData = (tools) => operator(tools, "seed");

/** Writes the records that are missing from local KV, and leaves the others as the user has them. */
export async function seed(tools, place) {
  const { keys, entries } = await seedData(tools);
  const local = new Kv(tools, place);
  const found = await local.read(entries.map(({ key }) => key));
  const missing = entries.filter(({ key }) => found[key] === null);
  if (missing.length > 0) await local.write(missing);
  return keys;
}
