/** Runs the dashboard's Worker under wrangler, with a namespace and a ledger in memory. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { MIGRATIONS_FOLDER } from "../../scripts/lib/places.mjs";
import { tools } from "../e2e/script.mjs";

const { createTestHarness } = wrangler();

const QUEUE = "impact-pledge-ledger"; // of wrangler.toml
/** The binding of the bucket for pictures. */
export const PICTURES = { binding: "PICTURES", bucket_name: "pictures" };

/**
 * Starts the dashboard. The result has these members:
 * - `db` is the ledger, with its tables.
 * - `queue` takes the service's messages. Messages that are sent as one batch arrive as one batch.
 * - `scheduled` runs the cron job.
 * @param {object} wish
 * @param {string} wish.main path of the Worker's code, from the clone's root
 * @param {string} wish.email the address of the person who is signed in
 * @param {Record<string, string>} wish.vars the Worker's variables, which list the people of each role
 * @param {{configPath: string}[]} [wish.others] further Workers on the same namespace; the service's messages reach the dashboard
 * @param {boolean} [wish.hasBucket] whether a bucket for backups is bound
 * @param {boolean} [wish.hasPictures] whether a bucket for pictures is bound
 * @param {string} [wish.service] the name of the service's Worker to bind, one of `others`
 * @param {boolean} [wish.notifications] whether the queue of e-mails is bound; nothing consumes it
 */
export async function startDashboard({ others = [], ...wish }) {
  const { configPath, remove } = dashboardConfig(wish);
  const harness = createTestHarness({ workers: [{ configPath }, ...others] });
  const close = async () => {
    await harness.close();
    remove();
  };
  try {
    const { url } = await harness.listen();
    return { harness, origin: url.origin, close, ...(await ledgerOf(harness.getWorker())) };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Writes a configuration like that of the deployed dashboard, in a folder of its own.
 * @param {{main: string, email: string, vars: Record<string, string>, notifications?: boolean, hasBucket?: boolean, hasPictures?: boolean, service?: string}} wish
 */
export function dashboardConfig({
  main,
  email,
  vars,
  notifications = false,
  hasBucket = false,
  hasPictures = false,
  service,
}) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
  const configPath = join(folder, "wrangler.json");
  const migrations_dir = join(tools.root, MIGRATIONS_FOLDER);
  const consumer = { queue: QUEUE, max_batch_size: 100, max_batch_timeout: 0, max_retries: 100 };
  const producers = [{ binding: "LEDGER", queue: QUEUE }];
  if (notifications)
    producers.push({ binding: "NOTIFICATIONS", queue: "impact-pledge-notifications" });
  const config = {
    name: "dashboard",
    main: join(tools.root, main),
    compatibility_date: "2026-10-01",
    keep_names: false,
    access: { dev: { aud: "test", identity: { email } } },
    kv_namespaces: [{ binding: "PLEDGES" }],
    d1_databases: [{ binding: "LEDGER_DB", migrations_dir }],
    r2_buckets: [
      ...(hasBucket ? [{ binding: "BACKUPS", bucket_name: "backups" }] : []),
      ...(hasPictures ? [PICTURES] : []),
    ],
    services: service ? [{ binding: "SERVICE", service }] : [],
    queues: { producers, consumers: [consumer] },
    triggers: { crons: ["*/5 * * * *"] },
    vars: { ...vars, ENVIRONMENT: "production" },
  };
  writeFileSync(configPath, JSON.stringify(config));
  return { configPath, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Creates the ledger's tables. Returns the namespace, the ledger, its queue, the buckets that are bound,
 * and a function that runs the cron job.
 * @param {import("wrangler").WorkerHandle} worker the dashboard
 */
export async function ledgerOf(worker) {
  await worker.applyD1Migrations("LEDGER_DB");
  const {
    PLEDGES: kv,
    LEDGER_DB: db,
    LEDGER: queue,
    BACKUPS: bucket,
    PICTURES: pictures,
  } = await worker.getEnv();
  const scheduled = () => worker.scheduled({ cron: "*/5 * * * *", scheduledTime: new Date() });
  return { kv, db, queue, bucket, pictures, scheduled };
}
