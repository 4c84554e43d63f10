/**
 * Where an operator's commands work: this machine's KV, and a deployed Worker's at a stand-in of
 * Cloudflare.
 */
import { openKv } from "../../scripts/lib/kv.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { scratch, tools } from "./script.mjs";

/**
 * Each is empty, and goes with the test.
 * @typedef {{place: import("../../scripts/lib/kv.mjs").Place, kv: import("../../scripts/lib/kv.mjs").Kv, args: string[], env: object}} At
 *   `place`: what every command prints of it; `kv`: its records; `args` and `env` lead a command to it
 */

/** @param {import("node:test").TestContext} t @returns {Promise<At>} */
export async function localKv(t) {
  const folder = scratch(t);
  const kv = await openKv(tools, { persistTo: folder });
  t.after(() => kv.close());
  return { place: { kind: "local", folder }, kv, args: ["--persist-to", folder], env: {} };
}

/**
 * Production, beside another Worker of the account.
 * @param {import("node:test").TestContext} t
 * @returns {Promise<At & {account: object, records: Map<string, string>}>}
 */
export async function deployedKv(t) {
  const environment = "production",
    worker = `impact-pledge-${environment}`;
  const { env, account } = await cloudflare(t, { deployed: ["impact-pledge", worker] });
  const { id: namespace, records } = account.namespaces[1];
  const kv = await openKv(
    { ...tools, env: { ...tools.env, ...env } },
    { remote: true, environment },
  );
  return {
    place: { kind: "cloudflare", account: ACCOUNT, environment, worker, namespace },
    kv,
    args: ["--remote", "--env", environment],
    env,
    account,
    records,
  };
}

export const PLACES = { "local KV": localKv, "a deployed namespace": deployedKv };

/**
 * The records of a KV by their names.
 * @param {import("../../scripts/lib/kv.mjs").Kv} kv
 * @returns {Promise<Record<string, {value: string | null, metadata: unknown}>>}
 */
export async function contents(kv) {
  return Object.fromEntries(
    (await Array.fromAsync(kv.read(kv.names()))).map(({ name, value, metadata }) => [
      name,
      { value, metadata },
    ]),
  );
}
