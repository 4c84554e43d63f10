/**
 * Writes the configuration of a dashboard, so that it uses the resources of the service that is deployed in
 * the same environment.
 */
import { join } from "node:path";
import { BACKUPS, PICTURES } from "./bucket.mjs";
import { Cloudflare } from "./cloudflare.mjs";
import { copyWith } from "./config-copy.mjs";
import { configuration } from "./configuration.mjs";
import { namespaceOf } from "./kv.mjs";
import { BINDING } from "./ledger.mjs";
import { ledgerConsumers, migratedDatabase } from "./ledger-account.mjs";
import { queueAmong } from "./queue.mjs";

const DEADLINE_MS = 30_000; // of each call

/**
 * Completes a dashboard's configuration with what the deployed service uses: its namespace, its queues, the
 * origin of its API, its sender of e-mails, and its bucket of pictures. Binds the service itself. Adds the ledger's database, the names of the bindings, variables and secrets that
 * connect adapters of messaging services, and what backups say about the place of the records.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {{file: string, environment: string, settings: import("wrangler").Unstable_Config}} work `file`: the
 *   configuration to complete; `environment`: the environment of this file and of the service, empty for
 *   none; `settings`: the configuration as wrangler reads it
 * @returns {Promise<string>} the file that was written
 */
export async function configOnService(tools, { file, environment, settings }) {
  const { root, project = root } = tools;
  const service = await configuration(join(project, "wrangler.toml"), environment || undefined);
  const { name: worker = "", account_id: account } = service;
  const cloudflare = await Cloudflare.open(tools, { account, deadline: DEADLINE_MS });
  const bindings = await cloudflare.bindings(worker);
  const queue = queueAmong(bindings);
  const variable = (wanted) => bindings.find(({ name }) => name === wanted)?.text;
  const id = await namespaceOf(cloudflare, service);
  const consumers = ledgerConsumers(settings, { worker, bindings, environment });
  const database_id = await migratedDatabase(tools, cloudflare, settings);
  const of = { account: cloudflare.account, environment: environment || null };
  const place = { kind: "cloudflare", ...of, worker, namespace: id };
  const change = (own) => {
    own.kv_namespaces = [{ binding: "PLEDGES", id }];
    own.services = [{ binding: "SERVICE", service: worker }]; // it records the pledges of orders
    own.queues = { producers: queue ? [{ binding: "NOTIFICATIONS", queue }] : [], consumers };
    if (bindings.some(({ type }) => type === "send_email")) own.send_email = [{ name: "EMAIL" }];
    own.r2_buckets = withPictures(own, service);
    for (const database of own.d1_databases ?? [])
      if (database.binding === BINDING) database.database_id = database_id;
    own.vars = {
      ...own.vars,
      SERVICE_ORIGIN: own.vars?.SERVICE_ORIGIN || variable("PUBLIC_ORIGIN") || "",
      MAIL_FROM: own.vars?.MAIL_FROM || variable("MAIL_FROM") || "",
      MESSAGING_BINDINGS: messagingAmong(bindings),
      ...(hasBucket(own) && { BACKUP_PLACE: JSON.stringify(place) }),
    };
  };
  return copyWith(tools, {
    file,
    environment,
    folder: "dashboard",
    account: cloudflare.account,
    change,
  });
}

/**
 * Returns the buckets of a dashboard: its own, and the service's bucket of pictures.
 * @param {{r2_buckets?: {binding: string}[]}} own @param {{r2_buckets?: {binding: string}[]}} service
 */
export function withPictures({ r2_buckets: own = [] }, { r2_buckets: there = [] }) {
  const isOfPictures = ({ binding }) => binding === PICTURES;
  return [...own.filter((bucket) => !isOfPictures(bucket)), ...there.filter(isOfPictures)];
}

const hasBucket = ({ r2_buckets = [] }) => r2_buckets.some(({ binding }) => binding === BACKUPS);

/** Returns the names of the bindings, variables and secrets that connect adapters of messaging services. */
const messagingAmong = (bindings) =>
  bindings
    .filter(
      ({ name, type, text }) =>
        /^MESSAGING_SERVICE_/.test(name) && !(type === "plain_text" && !text),
    )
    .map(({ name }) => name)
    .sort()
    .join(", ");
