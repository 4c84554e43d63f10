/**
 * `migrate`: updates the ledger's tables, either on this machine or in the database of the deployed
 * dashboard.
 */
import { join } from "node:path";
import { Cloudflare } from "./cloudflare.mjs";
import { Option, command } from "./command.mjs";
import { DASHBOARD, configuration } from "./configuration.mjs";
import { openKv } from "./kv.mjs";
import { migratedDatabase } from "./ledger-account.mjs";
import { UserError, log } from "./output.mjs";
import { calledAs, operatorTools } from "./places.mjs";

const DEADLINE_MS = 30_000; // of each call

export function migrateCommand() {
  const migrate = command(
    calledAs("migrate"),
    "Updates the ledger's tables to this version, in local development or in the deployed dashboard's database. A deploy does this too.",
  );
  return migrate
    .option("--remote", "update the tables of the deployed dashboard")
    .addOption(
      new Option(
        "--env <name>",
        "the section of wrangler.dashboard.toml to use, such as `production` for `[env.production]`; needs --remote",
      ),
    )
    .option("--persist-to <dir>", "folder of the local state")
    .action((options) => migrateLedger(operatorTools(migrate.terminal.env), options));
}

/**
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {{remote?: boolean, env?: string, persistTo?: string}} options
 */
async function migrateLedger(tools, { remote = false, env: environment, persistTo }) {
  if (environment !== undefined && !remote)
    throw new UserError("`--env` is for a deployed dashboard: add `--remote`");
  if (remote) {
    const settings = await configuration(join(tools.project, DASHBOARD), environment);
    const { account_id: account } = settings;
    const cloudflare = await Cloudflare.open(tools, { account, deadline: DEADLINE_MS });
    if (!(await migratedDatabase(tools, cloudflare, settings)))
      throw new UserError(
        `${DASHBOARD} binds no database as \`LEDGER_DB\`: there is nothing to migrate`,
      );
  } else {
    const kv = await openKv(tools, { persistTo });
    await kv.ledger?.ready().finally(() => kv.close());
  }
  log("The ledger's tables are up to date.");
}
