/* The commands `create` and `get`: they call the service that the environment names. */
import type { PledgeClient } from "impact-pledge";
import { validRequest } from "./check.ts";
import { Stop, jsonText, printable, settings } from "./output.ts";

const NO_ANSWER =
  "check that PLEDGE_BASE_URL is the service's address; `npx impact-pledge serve` starts one on this machine";
/** Hints about what the user can do, by error code. */
const HINTS: Partial<Record<string, string>> = {
  invalid_argument:
    "the command reads the environment variables PLEDGE_API_KEY, PLEDGE_BASE_URL and PLEDGE_UNIT_ID",
  authentication_failed:
    "PLEDGE_API_KEY must be a key of the service at PLEDGE_BASE_URL; a team-level key needs PLEDGE_UNIT_ID",
  not_found: "a key reads only transactions of its own unit and mode (test or live)",
  connection_failed: NO_ANSWER,
  timeout: NO_ANSWER,
};

export function create(
  { "idempotency-key": idempotencyKey }: { "idempotency-key"?: string },
  [file]: readonly string[],
): Promise<0> {
  return printed(async (client) =>
    client.createPledgeTransaction(await validRequest(file), { idempotencyKey }),
  );
}

export function get(_options: object, [id]: readonly string[]): Promise<0> {
  if (id === undefined) throw new Stop("pass the ID of a transaction: `impact-pledge get ptran_…`");
  return printed((client) => client.getPledgeTransaction(id));
}

/** Calls the service and prints the transaction that it returns. */
async function printed(call: (client: PledgeClient) => Promise<object>): Promise<0> {
  mustBeSet("PLEDGE_API_KEY", "PLEDGE_BASE_URL");
  const { PledgeClient, PledgeError } = await import("impact-pledge");
  try {
    console.log(
      jsonText(await call(PledgeClient.fromEnv({ appInfo: { name: "impact-pledge-command" } }))),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof PledgeError)) throw error;
    const hint = HINTS[error.code] ? `\n${HINTS[error.code]}` : "";
    throw new Stop(printable(error.message) + hint, error.code === "invalid_argument" ? 2 : 1);
  }
}

function mustBeSet(...names: string[]): void {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length === 0) return;
  throw new Stop(
    `set ${missing.join(" and ")} in the environment. For a service started by \`npx impact-pledge serve\`:\n${settings("http://127.0.0.1:8787")}`,
  );
}
