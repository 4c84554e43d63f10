/**
 * Tests that the first deploys of the service and the dashboard create the ledger's queue and database, and
 * that later deploys find them.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { withPictures } from "../../scripts/lib/dashboard-config.mjs";
import { withDashboard, withOrigins, withoutBuild } from "../support/wrangler.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { makeDatabase } from "./cloudflare-d1.mjs";
import { MIGRATIONS, scratch, script } from "./script.mjs";

const [SERVICE, DASHBOARD] = ["impact-pledge-staging", "impact-pledge-dashboard-staging"];
const QUEUE = "impact-pledge-staging-ledger";
const NAMESPACE = { type: "kv_namespace", name: "PLEDGES", namespace_id: "namespace-7" };

/** Returns an empty account, and a function that deploys an environment's Workers to it. */
async function account(t) {
  const { env, account } = await cloudflare(t, { deployed: false });
  const deploy = async (config, ...options) => {
    const args = ["--env", "staging", "--config", config, ...options];
    const { code, out, problem } = await script("deploy", args, { env });
    return { code, said: out + problem };
  };
  const done = async (...args) => {
    const { code, said } = await deploy(...args);
    assert.equal(code, 0, said);
    return said;
  };
  return {
    account,
    service: () => done(withOrigins(scratch(t), withoutBuild)),
    dashboard: (change) => done(withDashboard(scratch(t), change), "--dashboard"),
    refused: async (change) => {
      const { code, said } = await deploy(withDashboard(scratch(t), change), "--dashboard");
      assert.equal(code, 1, said);
      return said;
    },
    bound: () => account.bindings.get(DASHBOARD).find(({ name }) => name === "LEDGER_DB").id,
  };
}

const tablesOf = ({ sqlite }) =>
  sqlite
    .prepare("SELECT name FROM d1_migrations")
    .all()
    .map(({ name }) => name);

/** Returns the contents of an account, without what each deploy adds, such as uploads and deployments. */
const stateOf = ({ bindings, databases, queues, namespaces, schedules }) =>
  structuredClone({
    bindings,
    schedules,
    queues,
    databases: databases.map(({ sqlite: _, ...database }) => database),
    namespaces: namespaces.map(({ id, title }) => ({ id, title })),
  });

test("a service and its dashboard are deployed from nothing, and again, which changes nothing", async (t) => {
  const { account: there, service, dashboard, bound } = await account(t);
  await service();
  const [queue] = there.queues;
  assert.deepEqual([queue.queue_name, queue.consumer], [QUEUE, undefined]);
  const ledger = there.bindings.get(SERVICE).find(({ name }) => name === "LEDGER");
  assert.equal(ledger.queue_name, QUEUE);

  const said = await dashboard();
  assert.match(said, /^created the D1 database `impact-pledge-staging-ledger`/m);
  const applied = Array.from(said.matchAll(/^applied (\S+) to the ledger$/gm), ([, name]) => name);
  assert.deepEqual(applied, MIGRATIONS);
  const [database] = there.databases;
  assert.deepEqual([database.name, bound()], [QUEUE, database.uuid]);
  assert.deepEqual(tablesOf(database), MIGRATIONS);
  const { script, settings } = queue.consumer;
  const { batch_size, max_wait_time_ms, max_retries } = settings;
  assert.deepEqual(
    [script, batch_size, max_wait_time_ms, max_retries],
    [DASHBOARD, 100, 5_000, 100],
  );
  assert.deepEqual([...there.schedules], [[DASHBOARD, ["*/5 * * * *"]]]);

  const before = stateOf(there);
  there.asked.length = 0;
  await service();
  assert.doesNotMatch(await dashboard(), /D1 database|tables/);
  assert.deepEqual(stateOf(there), before);
  const made = there.asked.filter((asked) => /^POST .*\/(queues|database|namespaces)$/.test(asked));
  assert.deepEqual(made, []);
});

/**
 * Returns an account in which the service is deployed, and a function that sets the database's jurisdiction
 * in the dashboard's configuration.
 */
async function served(t) {
  const at = await account(t);
  at.account.queues.push({ queue_id: "queue-1", queue_name: QUEUE, messages: [] });
  const queue = { type: "queue", name: "LEDGER", queue_name: QUEUE };
  at.account.bindings.set(SERVICE, [NAMESPACE, queue]);
  const within = (name) => (text) =>
    text.replaceAll("d1_databases = [{ ", `$&jurisdiction = "${name}", `);
  return { ...at, within };
}

test("a database is created in its jurisdiction, stays there, and is created again if it was deleted", async (t) => {
  const { account: there, dashboard, refused, bound, within } = await served(t);
  await dashboard(within("eu"));
  const [database] = there.databases;
  assert.deepEqual([database.name, database.jurisdiction, bound()], [QUEUE, "eu", database.uuid]);
  assert.match(
    await refused(within("us")),
    /`impact-pledge-staging-ledger` is in the jurisdiction `eu`, but wrangler\.dashboard\.toml asks for `us`\. .* another `database_name`/,
  );
  there.databases.length = 0;
  await dashboard();
  const [made] = there.databases;
  assert.deepEqual(
    [made.jurisdiction, bound(), made.uuid === database.uuid],
    [null, made.uuid, false],
  );
  assert.deepEqual(tablesOf(made), MIGRATIONS);
});

test("a bucket for backups is bound as the configuration says, with the place of the records", async (t) => {
  const { account: there, dashboard } = await served(t);
  await dashboard((text) => text.replaceAll(/^# (?=r2_buckets = )/gm, ""));
  const { bindings } = there.uploads[0];
  const bound = (binding) => bindings.find(({ name }) => name === binding);
  assert.equal(bound("BACKUPS").bucket_name, "impact-pledge-staging-backups");
  assert.deepEqual(JSON.parse(bound("BACKUP_PLACE").text), {
    kind: "cloudflare",
    account: ACCOUNT,
    environment: "staging",
    worker: SERVICE,
    namespace: NAMESPACE.namespace_id,
  });
});

test("the dashboard gets the service's bucket of pictures, and keeps its own of backups", () => {
  const bucket = (binding, bucket_name) => ({ binding, bucket_name, jurisdiction: "eu" });
  const [backups, pictures] = [bucket("BACKUPS", "b"), bucket("PICTURES", "p")];
  for (const [own, there, expected] of [
    [[backups], [pictures], [backups, pictures]],
    [[bucket("PICTURES", "other"), backups], [pictures], [backups, pictures]],
    [[bucket("PICTURES", "other")], [], []],
    [undefined, undefined, []],
  ])
    assert.deepEqual(withPictures({ r2_buckets: own }, { r2_buckets: there }), expected);
});

test("if a batch is not one transaction, the dashboard is deployed, and the deploy fails and says why", async (t) => {
  const { account: there, refused, bound } = await served(t);
  there.isAtomic = false;
  assert.match(
    await refused(),
    /Cloudflare Access.*^stopped: the dashboard is deployed, .*commands with `--remote` will change nothing in the ledger: .*not run a batch of statements as one transaction in this account.* in the dashboard/ms,
  );
  const [database] = there.databases;
  assert.deepEqual([there.uploads.length, bound()], [1, database.uuid]);
  assert.deepEqual(tablesOf(database), MIGRATIONS);
  const { sqlite } = database;
  assert.deepEqual(sqlite.prepare("SELECT id FROM operations").all(), []);
});

test("if a batch is not one transaction, the tables of a ledger that has rows are not changed, and nothing is deployed", async (t) => {
  const { account: there, dashboard, refused } = await served(t);
  await dashboard();
  const [{ sqlite }] = there.databases;
  const last = MIGRATIONS.at(-1);
  sqlite.exec(`DELETE FROM d1_migrations WHERE name = '${last}'`);
  for (const table of ["backup_state", "public_totals", "notices", "notices_off"])
    sqlite.exec(`DROP TABLE ${table}`);
  sqlite.exec("DROP INDEX by_total; ALTER TABLE names DROP COLUMN has_total");
  there.isAtomic = false;
  assert.match(
    await refused(),
    /stopped: the ledger's tables were not changed, and nothing was deployed: .*not run a batch of statements as one transaction/s,
  );
  assert.equal(there.uploads.length, 1);
  assert.deepEqual(tablesOf({ sqlite }), MIGRATIONS.slice(0, -1));
  assert.deepEqual(sqlite.prepare("SELECT id FROM operations").all(), []);
  there.isAtomic = true;
  await dashboard();
  assert.deepEqual(tablesOf({ sqlite }), MIGRATIONS);
});

test("tables are created before the Worker that needs them is uploaded, all of a migration or none", async (t) => {
  const { account: there, refused } = await served(t);
  const { sqlite } = makeDatabase(there.databases, QUEUE, "eu");
  sqlite.exec("CREATE TABLE findings (name TEXT)");
  assert.match(await refused(), /table findings already exists.*: SQLITE_ERROR \[7500\]/);
  assert.deepEqual([there.uploads, tablesOf({ sqlite })], [[], []]);
  assert.deepEqual(sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'scopes'").all(), []);
});

test("a dashboard whose service has no queue for the ledger says what to do, and a dashboard without a ledger needs no queue", async (t) => {
  const { account: there, dashboard, refused } = await account(t);
  there.bindings.set(SERVICE, [NAMESPACE]);
  assert.match(
    await refused(),
    /the deployed Worker `impact-pledge-staging` has no queue `LEDGER`, .*`npm run deploy -- --env staging`/,
  );
  assert.deepEqual([there.databases, there.uploads], [[], []]);
  const without = (text) =>
    text
      .replaceAll(/^(d1_databases|queues\.consumers) = .*\n/gm, "")
      .replace(/^crons = .*/m, "crons = []");
  await dashboard(without);
  assert.deepEqual([there.databases, there.uploads.length], [[], 1]);
  assert.deepEqual([...there.schedules], [[DASHBOARD, []]]);
});
