/** Tests an operator's day on an empty Cloudflare account: each command works on the state that earlier commands have left. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { openKv } from "../../scripts/lib/kv.mjs";
import { migrate } from "../../scripts/lib/migrations.mjs";
import { operate } from "../../scripts/lib/operations.mjs";
import { portOf } from "../../scripts/lib/operator.mjs";
import { withMail, withOrigins } from "../support/wrangler.mjs";
import { ACCOUNT, bindLedger, cloudflare } from "./cloudflare.mjs";
import { contents, localKv, run, scratch, script, tools } from "./script.mjs";
import { create, get, send, startWorker } from "./worker.mjs";

const execute = promisify(execFile);
const order = (reference, offeringId = "tree") => ({
  reference,
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [{ impact: { offeringId, amount: 3 } }],
  trigger: { phrase: "Order placed" },
});
const unit = (id) => ({ "x-service-unit-id": id });

const parsed = ({ status, text }) => ({ status, text, json: JSON.parse(text) });

/** Starts a service that reads and writes these records, and lets `work` send requests to it. */
async function serve(kv, work) {
  const records = await contents(kv);
  const worker = await startWorker({ records });
  try {
    await work({
      create: async (...request) => parsed(await create(worker.origin, ...request)),
      get: async (...request) => parsed(await get(worker.origin, ...request)),
      open: (address) =>
        send(worker.origin, { method: "GET", path: address.replace(/^\w+:\/\/[^/]*/, "") }),
    });
    for (const { name } of (await worker.kv.list()).keys) {
      const { value, metadata } = await worker.kv.getWithMetadata(name);
      if (value !== records[name]?.value)
        await kv.write([{ key: name, value, ...(metadata === null ? {} : { metadata }) }]);
    }
  } finally {
    await worker.close();
  }
}

/** Moves all times in the records back by an hour. */
async function letAnHourPass(kv) {
  const earlier = (value) =>
    JSON.parse(
      JSON.stringify(value).replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) =>
        new Date(Date.parse(time) - 3_600_000).toISOString(),
      ),
    );
  await kv.write(
    Object.entries(await contents(kv)).map(([key, { value, metadata }]) => ({
      key,
      value: earlier(value),
      ...(metadata ? { metadata: earlier(metadata) } : {}),
    })),
  );
}

/** Returns the records as a later release might write them, with members that this release does not know. */
const ofLaterRelease = (records) =>
  Object.entries(records).map(([key, { value, metadata }]) => {
    const { version, ...record } = JSON.parse(value);
    const grown = { ...record, ...(version && { version: 2 }), campaign: { of: ["later"] } };
    return {
      key,
      value: JSON.stringify(grown),
      ...(metadata ? { metadata: { ...metadata, version: 2, campaign: null } } : {}),
    };
  });

/**
 * Returns functions for one account. `deploy` and `rollBack` change an environment, and `at` runs work in an
 * environment. Only production sends e-mails.
 */
async function operator(t) {
  const { env, account } = await cloudflare(t, { deployed: false });
  const there = { ...tools, env: { ...tools.env, ...env } };
  const configs = { production: withMail(scratch(t)), staging: withOrigins(scratch(t)) };
  const deploy = async (environment) => {
    const args = ["--env", environment, "--config", configs[environment]];
    const { code, out, problem } = await script("deploy", args, { env });
    assert.equal(code, 0, out + problem);
    assert.doesNotMatch(out + problem, /warning/i);
    const worker = `impact-pledge-${environment}`;
    const line = `deploying: account ${ACCOUNT}, environment ${environment}, Worker ${worker}`;
    assert.equal(problem.split("\n")[0], line);
  };
  const rollBack = async (environment) => {
    const args = ["rollback", "--env", environment, "--message", "it is slow"];
    const options = { cwd: tools.root, env: there.env };
    await execute(process.execPath, [tools.wrangler, ...args], options);
    const [now, later, first] = account.deployments
      .filter(({ worker }) => worker === `impact-pledge-${environment}`)
      .map(({ versions: [{ version_id }] }) => version_id);
    assert.deepEqual([now === first, now === later], [true, false]);
  };
  const at = async (environment) => {
    const command = (name, ...args) =>
      run(name, [...args, "--remote", "--env", environment], { env });
    const succeeds = async (...args) => {
      const { code, out, problem } = await command(...args);
      assert.equal(code, 0, problem);
      return out;
    };
    const kv = await openKv(there, { remote: true, environment });
    const reconcile = () => operate(tools, portOf(kv), "ledger", "check");
    return { fails: command, run: succeeds, kv, reconcile };
  };
  return { account, deploy, rollBack, at };
}

const keyIn = (text) => text.match(/service_sk_\w+/)[0];

test("an operator's day, from the first deploy to a rollback", async (t) => {
  const { account, deploy, rollBack, at } = await operator(t);
  const configuration = readFileSync(join(tools.root, "wrangler.toml"));
  for (const environment of ["staging", "production"]) {
    await deploy(environment);
    bindLedger(account, environment);
  }
  const [staging, production] = [await at("staging"), await at("production")];
  const { run, fails, kv, reconcile } = production;
  for (const { ledger } of [staging.kv, kv]) await migrate(/** @type {any} */ (ledger), tools.root);
  const prices = join(scratch(t), "prices.json");
  writeFileSync(prices, '{ "currencyCode": "EUR", "unitPrices": { "tree": "0.50" } }');

  // Each environment has a namespace, keys and prices of its own.
  const tried = keyIn(
    await staging.run("keys", "create", "--mode", "test", "--unit", "web", "--yes"),
  );
  const set = await staging.run("prices", "set", prices, "--mode", "both");
  const place = `account ${ACCOUNT}, environment staging, Worker impact-pledge-staging, namespace namespace-1`;
  assert.equal(set.split("\n")[0], place);
  await serve(staging.kv, async (service) => {
    const { status, json } = await service.create(tried, order("order-1"));
    assert.deepEqual([status, json.charge.amount, json.isLive], [200, "1.50", false]);
  });
  await serve(kv, async (service) =>
    assert.equal((await service.create(tried, order("order-1"))).status, 401),
  );

  // A team with two units, and a misspelt offering.
  await run("teams", "add", "shop", "web", "--yes");
  const team = ["--team", "shop", "--label", "both tills"];
  const made = await run("keys", "create", "--mode", "live", ...team);
  const key = keyIn(made);
  const [, keyId] = made.match(/^ID +(\w+)$/m);
  assert.match(await run("keys", "list"), /team shop +both tills +\S+ +ada@example\.org/);
  await run("prices", "set", prices, "--mode", "live");
  const once = { ...unit("web"), "idempotency-key": "order-2001" };
  let first;
  await serve(kv, async (service) => {
    assert.equal((await service.create(key, order("order-2000"))).status, 401); // it names no unit
    first = (await service.create(key, order("order-2001"), once)).json;
    assert.deepEqual([first.charge.amount, first.isLive], ["1.50", true]);
    assert.equal((await service.create(key, order("order-2002", "tre"), unit("pos"))).status, 401);
  });
  await run("teams", "add", "shop", "pos", "--yes"); // and its key keeps working
  await serve(kv, async (service) => {
    const { status, json } = await service.create(key, order("order-2002", "tre"), unit("pos"));
    assert.deepEqual([status, json.charge.amount], [200, "0.00"]);
  });
  await reconcile();
  const usage = await fails("transactions", "usage", "--unpriced");
  assert.equal(usage.code, 1, usage.problem);
  const [, misspelt] = usage.out.match(
    /^(ptran_\w+) .* pos +live +0\.00 EUR +0\.00 +Unpriced: 1$/m,
  );
  assert.match(await run("transactions", "list"), new RegExp(`^${first.id} +\\S+ +web +live`, "m"));
  const month = new Date().toISOString().slice(0, 7);
  assert.match(await run("transactions", "quantities", "--month", month), /^tre +3 +1 +live$/m);
  assert.match(await run("transactions", "show", misspelt), /^tre +3/m);

  // A buyer calls: the transaction is found, shown, erased, and stays erased.
  const find = ["transactions", "find", "--unit", "web"];
  assert.ok((await run(...find, "--reference", "order-2001")).includes(first.id));
  const asked = await run("transactions", "show", first.id);
  assert.match(asked, /^E-mail +a…@e…$/m);
  assert.match(asked, /^Price list +set at \S+Z by ada@example\.org$/m);
  assert.match(asked, new RegExp(`^API key +${keyId}$`, "m"));
  assert.match(asked, /^tree +3 +0\.50 +1\.50$/m);
  const erase = ["transactions", "erase", first.id, "--yes"];
  assert.match((await fails(...erase)).problem, /created less than 5 minutes ago/);
  await letAnHourPass(kv);
  await run(...erase);
  await serve(kv, async (service) => {
    const repeat = await service.create(key, order("order-2001"), once);
    assert.equal(repeat.status, 200);
    assert.deepEqual([repeat.json.id, repeat.json.charge.amount], [first.id, "1.50"]);
    const got = await service.get(key, first.id, unit("web"));
    assert.doesNotMatch(got.text, /ada@|Ada|order-2001/);
  });
  assert.match(await run(...find, "--email", "ada@example.org"), /No matching transaction/);

  // The key is rotated; the old one works for a day.
  const rotated = keyIn(await run("keys", "rotate", keyId, "--keep", "24h"));
  await serve(kv, async (service) => {
    for (const each of [key, rotated])
      assert.equal((await service.create(each, order("order-2003"), unit("pos"))).status, 200);
  });
  const ends = (await Array.fromAsync(kv.list("key:"))).flatMap(
    ({ expiration = [] }) => expiration,
  );
  const inHours = (seconds) => Math.round((seconds - Date.now() / 1000) / 3_600);
  assert.deepEqual(ends.map(inHours), [24]);

  // All records are lost, and restored.
  const file = join(scratch(t), "pledges.jsonl");
  const before = await contents(kv);
  await run("transactions", "backup", file);
  await kv.remove(Object.keys(before));
  await serve(kv, async (service) =>
    assert.equal((await service.get(rotated, first.id)).status, 401),
  );
  await run("transactions", "restore", file);
  await serve(kv, async (service) =>
    assert.equal((await service.get(rotated, first.id)).status, 401, "no key comes back by itself"),
  );
  await run("transactions", "restore", file, "--with-keys", "--yes");
  const restored = await contents(kv);
  const more = Object.keys(restored).filter((name) => !(name in before));
  assert.deepEqual(more.map((name) => name.split(":")[0]).sort(), ["audit", "audit", "backup"]);
  assert.deepEqual({ ...restored, ...before }, restored);

  // Records of a later release stay readable when it is rolled back.
  await deploy("production");
  await kv.write(ofLaterRelease(before));
  await rollBack("production");
  await serve(kv, async (service) => {
    assert.equal((await service.get(rotated, first.id, unit("web"))).status, 200);
    const headers = { ...unit("web"), "idempotency-key": "order-2004" };
    const { status, json } = await service.create(rotated, order("order-2004"), headers);
    assert.deepEqual([status, json.charge.amount], [200, "1.50"]);
  });
  assert.match(await run(...find, "--reference", "order-2004"), /1\.50 EUR/);

  // What the deploys have left in the account and in the clone.
  assert.deepEqual(
    account.namespaces.map(({ title }) => title),
    ["impact-pledge-staging-pledges", "impact-pledge-production-pledges"],
  );
  assert.equal(account.uploads.length, 3);
  for (const { modules, observability } of account.uploads) {
    const kinds = modules.map((name) => name.match(/\.\w+$/)[0]).sort();
    assert.deepEqual(kinds, [".js", ".map", ".wasm"]);
    assert.deepEqual(observability, {
      enabled: true,
      redact_query_string: true,
      logs: { invocation_logs: false },
      traces: { enabled: false },
    });
  }
  assert.deepEqual(readFileSync(join(tools.root, "wrangler.toml")), configuration);
  assertQueues(account);
});

/**
 * Asserts which queues the first deploys created. Each environment has a ledger queue, still without a
 * consumer. Production, which sends e-mails, also has two e-mail queues that its Worker consumes.
 */
function assertQueues({ queues, bindings }) {
  const name = "impact-pledge-production-notifications";
  const consumer = (max_retries) => ({
    type: "worker",
    script: "impact-pledge-production",
    settings: { batch_size: 1, max_concurrency: 5, max_retries },
  });
  assert.deepEqual(queues.map(({ queue_name, consumer }) => [queue_name, consumer]).sort(), [
    ["impact-pledge-production-ledger", undefined],
    [name, { ...consumer(15), dead_letter_queue: `${name}-dead` }],
    [`${name}-dead`, consumer(100)],
    ["impact-pledge-staging-ledger", undefined],
  ]);
  const bound = (worker) => bindings.get(worker).map(({ name }) => name);
  const ofMail = ["EMAIL", "NOTIFICATIONS", "NOTIFICATIONS_DEAD"];
  const all = bound("impact-pledge-production");
  assert.deepEqual([...bound("impact-pledge-staging"), ...ofMail].sort(), all.sort());
}

test("a repeat after its API key was rotated makes no second record, and no stranger gets at the first", async (t) => {
  const kv = await localKv(t);
  const keys = async (...args) => {
    const { code, out, problem } = await run("keys", [...args, "--json"], { kv });
    assert.equal(code, 0, problem);
    return JSON.parse(out);
  };
  const made = (mode, unit) => keys("create", "--mode", mode, "--unit", unit, "--yes");
  const { key: leaked, id } = await made("test", "web");
  const once = { "idempotency-key": "order-1" };
  const repeat = (service, key) => service.create(key, order("order-1"), once);
  let first;
  await serve(kv, async (service) => (first = await repeat(service, leaked)));
  assert.equal(first.status, 200, first.text);
  const recorded = await contents(kv);

  const { key: rotated } = await keys("rotate", id, "--keep", "0");
  await serve(kv, async (service) => {
    assert.equal((await repeat(service, rotated)).text, first.text);
    assert.equal((await repeat(service, leaked)).status, 401);
    assert.equal((await service.get(leaked, first.json.id)).status, 401);
  });
  const kept = (records) =>
    Object.entries(records).filter(([name]) => /^(?:transaction|idempotency):/.test(name));
  assert.deepEqual(kept(await contents(kv)), kept(recorded));

  const strangers = [await made("test", "pos"), await made("live", "web")];
  await serve(kv, async (service) => {
    for (const { key } of strangers) {
      const { status, json } = await repeat(service, key);
      assert.equal(status, 200);
      assert.notEqual(json.id, first.json.id);
      assert.equal((await service.get(key, first.json.id)).status, 404);
      const [, theirs] = json.timelineUrl.split("?");
      const [page] = first.json.timelineUrl.split("?");
      assert.equal((await service.open(`${page}?${theirs}`)).status, 404);
    }
    assert.equal((await service.open(first.json.timelineUrl)).status, 200);
    assert.equal((await repeat(service, rotated)).text, first.text);
  });
});
