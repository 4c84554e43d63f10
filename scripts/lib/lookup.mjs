/** The lookup key of a namespace, by which transactions are found: the record `lookup`, of which each API key's record has a copy. */
import { randomBytes } from "node:crypto";
import { operator } from "./operator.mjs";

/** The record as `stored`, and as an `entry` to write if it is missing. @returns {Promise<{stored: string, entry: import("./kv.mjs").Entry | null}>} */
export async function lookupKey(tools, kv) {
  const stored = await kv.get("lookup");
  const records = stored === null ? await lookupRecords(kv) : { lookup: stored };
  return operator(tools, "lookup", { random: randomBytes(32).toString("hex"), records });
}

/** The record `lookup` and those of all API keys, which may have another. @returns {Promise<Record<string, string | null>>} */
export async function lookupRecords(kv) {
  const names = async function* () {
    yield "lookup";
    yield* kv.names("key:");
  };
  return kv.values(names());
}
