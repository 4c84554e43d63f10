/**
 * Tests that all environments in wrangler.toml and wrangler.dashboard.toml have the same bindings and
 * variables. Environments inherit none of these from the top level, so each one must repeat them.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { configuration } from "../../scripts/lib/configuration.mjs";
import { MIGRATIONS_FOLDER } from "../../scripts/lib/places.mjs";
import { withMailAlone } from "../support/wrangler.mjs";

const FILE = join(import.meta.dirname, "../..", "wrangler.toml");
const DASHBOARD = join(FILE, "..", "wrangler.dashboard.toml");
/** The settings that may differ: names, addresses, values of variables, and how much is logged. */
const OWN = [
  "name",
  "topLevelName",
  "access",
  "targetEnvironment",
  "route",
  "routes",
  "workers_dev",
  "preview_urls",
  "vars",
  "observability",
  "limits",
  "placement",
  "account_id",
];
/**
 * Returns the settings that must be equal in all environments. Leaves out the numbers of rate limits: they
 * must differ, because limits with the same number share a count. Removes the service's name from the names
 * of queues and databases.
 */
function common(config) {
  const shared = Object.entries(config).filter(([name]) => !OWN.includes(name));
  const { ratelimits, ...rest } = Object.fromEntries(shared);
  const service = config.name.replace("-dashboard", "").replace(/(?<=-development)-.*/, "");
  return {
    ...JSON.parse(JSON.stringify(rest).replaceAll(`"${service}-`, '"')),
    ratelimits: ratelimits.map(({ namespace_id: _, ...limit }) => limit),
  };
}

const folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const MAIL_FILE = withMailAlone(folder);
const top = await configuration(FILE);

test("staging and production have the bindings and variables of the top level", async () => {
  assert.deepEqual(top.definedEnvironments, ["staging", "production"]);
  for (const file of [FILE, MAIL_FILE, DASHBOARD]) await compare(file);
});

test("the dashboard has the service's environments, and only addresses that Access protects", async () => {
  for (const environment of [undefined, ...top.definedEnvironments]) {
    const { vars, preview_urls, assets } = await configuration(DASHBOARD, environment);
    const service = await configuration(FILE, environment);
    const name = environment ?? "";
    assert.deepEqual([vars.ENVIRONMENT, service.vars.ENVIRONMENT], [name, name]);
    assert.equal(preview_urls, false);
    assert.equal(assets, undefined, "a Worker with assets gets no identity");
  }
});

async function compare(file) {
  const top = await configuration(file);
  for (const environment of top.definedEnvironments) {
    const config = await configuration(file, environment);
    assert.equal(config.name, `${top.name}-${environment}`);
    assert.deepEqual(common(config), common(top));
    assert.deepEqual(Object.keys(config.vars).sort(), Object.keys(top.vars).sort());
    assert.equal(config.observability.redact_query_string, true);
    assert.equal(config.observability.logs.invocation_logs, false);
    assert.equal(config.observability.traces.enabled, false);
  }
}

test("e-mails are off, and the queue delivers a message as often as the service expects", async () => {
  const ledger = { binding: "LEDGER", queue: "ledger" };
  assert.deepEqual([common(top).queues, top.send_email], [{ producers: [ledger] }, []]);
  const source = readFileSync(join(FILE, "../src/buyer/delivery/schedule.rs"), "utf8");
  const [, retries] = source.match(/MAX_RETRIES: u32 = (\d+);/) ?? [];
  const { queues, send_email } = common(await configuration(MAIL_FILE));
  assert.deepEqual({ ...send_email[0] }, { name: "EMAIL" });
  const [queue, dead] = ["notifications", "notifications-dead"];
  assert.deepEqual(queues, {
    producers: [
      ledger,
      { binding: "NOTIFICATIONS", queue },
      { binding: "NOTIFICATIONS_DEAD", queue: dead },
    ],
    consumers: [
      {
        queue,
        dead_letter_queue: dead,
        max_batch_size: 1,
        max_concurrency: 5,
        max_retries: Number(retries),
      },
      { queue: dead, max_batch_size: 1, max_concurrency: 5, max_retries: 100 },
    ],
  });
});

test("the dashboard consumes the service's queue of the ledger, and has the database of the ledger", async () => {
  for (const environment of [undefined, ...top.definedEnvironments]) {
    const service = common(await configuration(FILE, environment));
    const { queues, d1_databases, triggers } = common(await configuration(DASHBOARD, environment));
    const { queue } = service.queues.producers.find(({ binding }) => binding === "LEDGER");
    const consumer = { queue, max_batch_size: 100, max_batch_timeout: 5, max_retries: 100 };
    assert.deepEqual(queues, { consumers: [consumer] });
    const database = {
      binding: "LEDGER_DB",
      database_name: queue,
      migrations_dir: MIGRATIONS_FOLDER,
    };
    assert.deepEqual(d1_databases, [database]);
    assert.deepEqual(triggers, { crons: ["*/5 * * * *"] });
  }
});

test("in local development one dashboard consumes the queue, and those of all roles read the same ledger", async () => {
  const file = join(FILE, "../www/wrangler.dashboard.dev.toml");
  const service = await configuration(join(FILE, "../www/wrangler.dev.toml"));
  const { queue } = service.queues.producers.find(({ binding }) => binding === "LEDGER");
  const own = await configuration(file);
  const consumed = own.queues.consumers.map(({ queue }) => queue);
  assert.deepEqual(consumed, [queue]);
  for (const role of own.definedEnvironments) {
    const config = await configuration(file, role);
    const { producers } = common(own).queues;
    const { build } = common(own); // wrangler resolves the paths of `watch_dir` again for an environment
    assert.deepEqual({ ...common(config), build }, { ...common(own), queues: { producers } });
    assert.deepEqual(config.vars, own.vars);
    assert.equal(config.access.dev.identity.email, `${role}@small-hours.example`);
  }
  assert.deepEqual(own.definedEnvironments, [
    "operator",
    "support",
    "accounts",
    "manager",
    "viewer",
  ]);
});

test("each environment has its own rate limit of refused keys", async () => {
  const configs = await Promise.all(
    [undefined, ...top.definedEnvironments].map((environment) => configuration(FILE, environment)),
  );
  const numbers = configs.flatMap(({ ratelimits }) =>
    ratelimits.map(({ namespace_id }) => namespace_id),
  );
  assert.equal(new Set(numbers).size, configs.length);
});

test("the error names a configuration that can't be read, or an environment that does not exist", async (t) => {
  await assert.rejects(configuration(FILE, "prod"), {
    message: "wrangler.toml has no environment `prod`. Its environments: staging, production",
  });
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "wrangler.toml"), "name = impact-pledge\n");
  await assert.rejects(
    configuration(join(folder, "wrangler.toml")),
    /wrangler\.toml can't be read: /,
  );
});
