/**
 * The secret of a namespace, which keys the hashes that transactions are found by: the record `secret`,
 * of which the record of each API key has a copy.
 */
import { randomBytes } from "node:crypto";
import { operator } from "./operator.mjs";

/** The record as `stored`, and as an `entry` to write if it is missing. @returns {Promise<{stored: string, entry: import("./kv.mjs").Entry | null}>} */
export async function namespaceSecret(tools, kv) {
  const stored = await kv.get("secret");
  const records = stored === null ? await secretRecords(kv) : { secret: stored };
  return operator(tools, "secret", { random: randomBytes(32).toString("hex"), records });
}

/** The record `secret` and those of all API keys, which may have another. @returns {Promise<Record<string, string | null>>} */
export async function secretRecords(kv) {
  const names = async function* () {
    yield "secret";
    yield* kv.names("key:");
  };
  return kv.values(names());
}
