/** The ledger in an account: what a dashboard's deploy finds there, and makes. */
import { DASHBOARD } from "./configuration.mjs";
import { BINDING, Ledger, restDatabase } from "./ledger.mjs";
import { migrate } from "./migrations.mjs";
import { UserError, log } from "./output.mjs";
import { calledAs } from "./places.mjs";

/**
 * The ID of the database that a dashboard's configuration names, with the tables of this version; undefined if it names none.
 * Tables come before the Worker that asks for them: the one that is deployed knows nothing of what is new.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Pick<import("wrangler").Unstable_Config, "d1_databases">} dashboard
 * @returns {Promise<string | undefined>}
 */
export async function migratedDatabase({ root }, cloudflare, { d1_databases }) {
  const wanted = d1_databases.find(({ binding }) => binding === BINDING);
  if (!wanted) return undefined;
  const id = wanted.database_id ?? (await idOf(cloudflare, wanted));
  for (const name of await migrate(new Ledger(restDatabase(cloudflare, id)), root))
    log(`the ledger has the tables of ${name} now`);
  return id;
}

/**
 * The ID of the account's database of this name, which is made if there is none.
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
      `the D1 database \`${name}\` is in ${actual ? `the jurisdiction \`${actual}\`` : "no jurisdiction"}, and ${DASHBOARD} asks for \`${jurisdiction}\`. It can't be moved: choose another \`database_name\`, and the ledger is made again from the records`,
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
  const { result } = await cloudflare.callOnce("make the ledger", "POST", "/d1/database", wish);
  log(`made the D1 database \`${name}\` (${result.uuid})`);
  return result;
}

/**
 * The consumers of a dashboard's configuration, on the queue that its service is bound to.
 * @param {Pick<import("wrangler").Unstable_Config, "queues">} dashboard
 * @param {{worker: string, bindings: any[], environment: string}} service that is deployed
 */
export function ledgerConsumers({ queues }, { worker, bindings, environment }) {
  const queue = bindings.find(
    ({ name, type }) => name === "LEDGER" && type === "queue",
  )?.queue_name;
  const consumers = queues.consumers ?? [];
  if (consumers.length > 0 && queue === undefined)
    throw new UserError(
      `the deployed Worker \`${worker}\` has no queue \`LEDGER\`, which fills the ledger: deploy it first, by \`${calledAs("deploy")}${environment && ` --env ${environment}`}\`. ${DASHBOARD} says how to do without a ledger`,
    );
  return consumers.map((consumer) => ({ ...consumer, queue }));
}
