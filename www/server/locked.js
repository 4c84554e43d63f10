/**
 * Makes the Workers of local development retry calls of local KV while a command has locked the database.
 * Otherwise, a request would fail, and an e-mail would wait a minute for its next delivery.
 */
import { LOCKED, retried } from "../../scripts/lib/retried.mjs";

const CALLS = ["get", "getWithMetadata", "list", "put", "delete"];

/** Returns a Worker's bindings and variables, in which calls of KV are repeated. @param {any} env */
export const withRetries = (env) => ({ ...env, PLEDGES: retrying(env.PLEDGES) });

const retrying = (kv) =>
  Object.fromEntries(
    CALLS.map((call) => [call, (...args) => retried(LOCKED, () => kv[call](...args))]),
  );
