/** Finds or creates the ledger of an account when a dashboard is deployed, and checks it. */
import { IN_PARTS, isAtomic } from "./atomic.mjs";
import { DASHBOARD } from "./configuration.mjs";
import { BINDING, Ledger, restDatabase } from "./ledger.mjs";
import { migrate } from "./migrations.mjs";
import { UserError, log } from "./output.mjs";
import { calledAs } from "./places.mjs";

/**
 * Brings the tables of a dashboard's database up to this version, before the new version of the Worker is
 * uploaded. This is safe, because the version that is still deployed does not use the new tables and columns. Changes nothing
 * if a migration could be applied in part.
 * Returns the database's ID; undefined if the configuration names no database.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Pick<import("wrangler").Unstable_Config, "d1_databases">} dashboard the dashboard's configuration
 * @returns {Promise<string | undefined>}
 */
export async function migratedDatabase({ root }, cloudflare, { d1_databases }) {
  const wanted = d1_databases.find(({ binding }) => binding === BINDING);
  if (!wanted) return undefined;
  const id = wanted.database_id ?? (await idOf(cloudflare, wanted));
  const ledger = new Ledger(restDatabase(cloudflare, id));
  for (const name of await migrate(ledger, root, () => wholeOnly(ledger)))
    log(`applied ${name} to the ledger`);
  return id;
}

/** Throws if a migration could be applied in part. A new database can be deleted then, but not one that has rows. */
async function wholeOnly(ledger) {
  if (await isAtomic(ledger)) return;
  throw new UserError(
    `the ledger's tables were not changed, and nothing was deployed: ${IN_PARTS}. Ask Cloudflare's support`,
  );
}

/**
 * Throws if the commands of the operator cannot change the ledger of a dashboard that was just deployed.
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Pick<import("wrangler").Unstable_Config, "d1_databases">} deployed the configuration, with the database's ID
 */
export async function checkAtomic(cloudflare, { d1_databases }) {
  const id = d1_databases.find(({ binding }) => binding === BINDING)?.database_id;
  if (!id || (await isAtomic(new Ledger(restDatabase(cloudflare, id))))) return;
  throw new UserError(
    `the dashboard is deployed, and can make all changes. But commands with \`--remote\` will change nothing in the ledger: ${IN_PARTS}. Make changes in the dashboard, which does not use this API`,
  );
}

/**
 * Returns the ID of the account's database with this name. Creates the database if it does not exist.
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {{database_name?: string, jurisdiction?: string}} wanted
 * @returns {Promise<string>}
 */
async function idOf(cloudflare, { database_name: name, jurisdiction }) {
  if (!name)
    throw new UserError(`\`${BINDING}\` in ${DASHBOARD} has neither \`database_name\` nor an ID`);
  const { uuid, jurisdiction: actual } =
    (await found(cloudflare, name)) ?? (await made(cloudflare, name, jurisdiction));
  if (jurisdiction && jurisdiction !== actual)
    throw new UserError(
      `the D1 database \`${name}\` is in ${actual ? `the jurisdiction \`${actual}\`` : "no jurisdiction"}, but ${DASHBOARD} asks for \`${jurisdiction}\`. A database can't be moved: choose another \`database_name\`. The new ledger is then filled from the records`,
    );
  return uuid;
}

const found = async (cloudflare, name) => {
  const path = `/d1/database/${encodeURIComponent(name)}`;
  const { result } = await cloudflare.call("find the ledger", "GET", path).catch((error) => {
    if (error.status === 404) return { result: null };
    throw error;
  });
  return result;
};

async function made(cloudflare, name, jurisdiction) {
  const wish = { name, ...(jurisdiction && { jurisdiction }) };
  const { result } = await cloudflare.callOnce("create the ledger", "POST", "/d1/database", wish);
  log(`created the D1 database \`${name}\` (${result.uuid})`);
  return result;
}

/**
 * Returns the queue consumers of a dashboard's configuration. Adds the name of the queue that they consume:
 * the queue to which the deployed service sends its messages for the ledger.
 * @param {Pick<import("wrangler").Unstable_Config, "queues">} dashboard
 * @param {{worker: string, bindings: any[], environment: string}} service the deployed service
 */
export function ledgerConsumers({ queues }, { worker, bindings, environment }) {
  const queue = bindings.find(
    ({ name, type }) => name === "LEDGER" && type === "queue",
  )?.queue_name;
  const consumers = queues.consumers ?? [];
  if (consumers.length > 0 && queue === undefined)
    throw new UserError(
      `the deployed Worker \`${worker}\` has no queue \`LEDGER\`, which fills the ledger. Deploy the Worker first, by \`${calledAs("deploy")}${environment && ` --env ${environment}`}\``,
    );
  return consumers.map((consumer) => ({ ...consumer, queue }));
}
