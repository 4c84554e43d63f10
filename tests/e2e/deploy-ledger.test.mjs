/** The ledger's queue and database, as deploys of the service and of the dashboard make and find them. */
import assert from "node:assert/strict";
import test from "node:test";
import { withDashboard, withOrigins, withoutBuild } from "../support/wrangler.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { scratch, script } from "./script.mjs";

const [SERVICE, DASHBOARD] = ["impact-pledge-staging", "impact-pledge-dashboard-staging"];
const QUEUE = "impact-pledge-staging-ledger";

/** An account in which nothing is deployed, and what deploys an environment's Workers there. */
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

/** What an account has, without what each deploy adds. */
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
  assert.match(said, /^made the D1 database `impact-pledge-staging-ledger`/m);
  assert.match(said, /^the ledger has the tables of 0001_ledger\.sql now$/m);
  const [database] = there.databases;
  assert.deepEqual([database.name, bound()], [QUEUE, database.uuid]);
  assert.deepEqual(tablesOf(database), ["0001_ledger.sql"]);
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

test("a database that was deleted is made again", async (t) => {
  const { account: there, service, dashboard, bound } = await account(t);
  await service();
  await dashboard();
  const [gone] = there.databases.splice(0);
  await dashboard();
  const [database] = there.databases;
  assert.deepEqual([bound(), database.uuid === gone.uuid], [database.uuid, false]);
  assert.deepEqual(tablesOf(database), ["0001_ledger.sql"]);
});

test("tables come before the Worker that asks for them", async (t) => {
  const { account: there, service, dashboard, refused } = await account(t);
  await service();
  await dashboard();
  const [{ sqlite }] = there.databases;
  sqlite.exec("DROP TABLE findings; DELETE FROM d1_migrations");
  const uploads = there.uploads.length;
  assert.match(await refused(), /table shops already exists: SQLITE_ERROR \[7500\]/);
  assert.equal(there.uploads.length, uploads);
  const { count } = /** @type {any} */ (
    sqlite.prepare("SELECT count(*) AS count FROM sqlite_schema WHERE name = 'findings'").get()
  );
  assert.equal(count, 0, "a migration is done whole or not at all");
});

test("a jurisdiction is kept: that of the configuration, and that of a database that is there", async (t) => {
  const { account: there, service, dashboard, refused } = await account(t);
  const within = (name) => (text) =>
    text
      .replaceAll('database_name = "', `jurisdiction = "${name}", database_name = "`)
      .replace(/^jurisdiction = "\w+", /m, "");
  await service();
  await dashboard(within("eu"));
  assert.deepEqual(
    there.databases.map(({ name, jurisdiction }) => [name, jurisdiction]),
    [[QUEUE, "eu"]],
  );
  await dashboard();
  assert.equal(there.databases.length, 1, "one that was made before is taken as it is");
  assert.match(
    await refused(within("us")),
    /`impact-pledge-staging-ledger` is in the jurisdiction `eu`, and wrangler\.dashboard\.toml asks for `us`\. .* another `database_name`/,
  );
});

test("a dashboard whose service has no queue for the ledger says what to do, and one without a ledger needs none", async (t) => {
  const { account: there, dashboard, refused } = await account(t);
  const namespace = { type: "kv_namespace", name: "PLEDGES", namespace_id: "namespace-7" };
  there.bindings.set(SERVICE, [namespace]);
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
