/**
 * A stand-in for the part of Cloudflare's API that wrangler and the commands use: deploys and rollbacks of Workers, KV
 * namespaces, queues, D1 databases, objects of R2, and applications of Access.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { openKv } from "../../scripts/lib/kv.mjs";
import { migrate } from "../../scripts/lib/migrations.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { serveAccess } from "./cloudflare-access.mjs";
import { failure, missing, ok } from "./cloudflare-answers.mjs";
import { makeDatabase, serveD1 } from "./cloudflare-d1.mjs";
import { makeNamespace, serveKv } from "./cloudflare-kv.mjs";
import { tools } from "./script.mjs";

export const ACCOUNT = "account-1";
const TOKEN = "token-1";

/**
 * Starts a stand-in for Cloudflare's API with one account.
 * @typedef {{status?: number, headers?: Record<string, string>, message?: string, delay?: number}} Fault `delay` in milliseconds
 * @param {import("node:test").TestContext} t
 * @param {{deployed?: boolean, page?: number, fault?: (asked: string, account: object) => Fault | undefined}} [options]
 *   `deployed`: whether the Worker of wrangler.toml's top level exists, with its namespace. `page`: the number of
 *   names on a page of a list. The default is so small that tests notice a client that reads only one page.
 *   `fault`: returns how a request fails
 * @returns the account's contents, and the environment variables that make wrangler use the stand-in. A test may
 *   replace the account's function `lost`. For a request that was carried out, the function decides whether its
 *   answer is lost. A test may also set `isAtomic` to false, so that a batch of D1 is not one transaction
 */
export async function cloudflare(t, { deployed = true, page = 2, fault = () => undefined } = {}) {
  const account = {
    records: new Map(),
    namespaces: [],
    queues: [],
    databases: [],
    objects: new Map(),
    schedules: new Map(),
    bindings: new Map(),
    secrets: new Map(),
    apps: [],
    uploads: [],
    deployments: [],
    asked: [],
    page,
    fault,
    lost: (_asked) => false,
    isAtomic: true,
  };
  if (deployed) {
    const { id } = makeNamespace(account, "impact-pledge-pledges");
    const binding = { type: "kv_namespace", name: "PLEDGES", namespace_id: id };
    account.bindings.set("impact-pledge", [binding]);
  }
  const app = api(account);
  const server = createServer(async (request, response) => {
    const { method, url, headers } = /** @type {any} */ (request);
    const body = method === "GET" ? undefined : new Uint8Array(await buffer(request));
    const answer = await app.request(url, { method, headers, body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const { origin, close } = await onLoopback(server);
  t.after(close);
  const env = {
    CLOUDFLARE_API_BASE_URL: `${origin}/client/v4`,
    CLOUDFLARE_API_TOKEN: TOKEN,
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
  };
  return { env, account };
}

/**
 * Opens the KV records of a deployed Worker. `account.asked` of the result lists the API requests that follow,
 * not those that opened the records.
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof cloudflare>[1] & {deadline?: number, more?: NodeJS.ProcessEnv, hasLedger?: boolean}} [options] `deadline`:
 *   the deadline of each API call, in milliseconds. The default is so long that no call in the tests reaches it.
 *   `more`: further environment variables
 */
export async function deployedKv(
  t,
  { deadline = 60_000, more = {}, hasLedger = false, ...options } = {},
) {
  const { env, account } = await cloudflare(t, options);
  const there = { ...tools, env: { ...tools.env, ...env, ...more } };
  if (hasLedger) bindLedger(account);
  const open = () => openKv(there, { remote: true, deadline });
  const kv = await open();
  account.asked.length = 0;
  return { kv, account, env, records: account.records, open };
}

/**
 * Opens the KV records of a deployed Worker, as {@link deployedKv} does, and the ledger of a deployed
 * dashboard.
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof deployedKv>[1] & {isMigrated?: boolean}} [options]
 */
export async function deployedLedger(t, { isMigrated = true, ...options } = {}) {
  const { kv, account, env, open } = await deployedKv(t, { ...options, hasLedger: true });
  if (isMigrated) await migrate(/** @type {any} */ (kv.ledger), tools.root);
  account.asked.length = 0;
  return { kv, account, env, open };
}

/** Creates the ledger's database and binds it to an environment's dashboard, as a deploy does. */
export function bindLedger({ databases, bindings }, environment = "") {
  const of = environment && `-${environment}`;
  const { uuid: id } = makeDatabase(databases, `impact-pledge${of}-ledger`);
  bindings.set(`impact-pledge-dashboard${of}`, [{ type: "d1", name: "LEDGER_DB", id }]);
}

// ---- Addresses -----------------------------------------------------------------------------------

const ACCOUNTS = "/client/v4/accounts";
const HERE = `${ACCOUNTS}/${ACCOUNT}`;
const NAMESPACES = `${HERE}/storage/kv/namespaces`;
const QUEUES = `${HERE}/queues`;
const DATABASES = `${HERE}/d1/database`;
const BUCKETS = `${HERE}/r2/buckets`;
const WORKER = `${HERE}/workers/scripts/:worker`;
const SUBDOMAIN = { enabled: true, previews_enabled: true };

function api(account) {
  const { queues, schedules, bindings, deployments, secrets } = account;
  const app = new Hono();
  app.notFound(missing);
  app.use(async (context, next) => {
    const { req } = context;
    const asked = `${req.method} ${req.path.replace(HERE, "")}`;
    account.asked.push(asked);
    const { status, headers, message = "broken", delay = 0 } = account.fault(asked, account) ?? {};
    await sleep(delay, undefined, { ref: false });
    if (status) return failure(status, message, 10_000, headers);
    if (req.header("authorization") !== `Bearer ${TOKEN}`)
      return failure(403, "Authentication error", 10_000);
    await next();
    if (account.lost(asked)) context.res = failure(500, "lost", 10_000, { "retry-after": "0" });
  });

  app.get("/client/v4/user", () => ok({ email: "ada@example.org" }));
  app.get("/client/v4/user/tokens/verify", () => ok({ id: "0a1b" }));
  app.get(ACCOUNTS, () => ok([{ id: ACCOUNT, name: "Shop" }]));
  serveKv(app, NAMESPACES, account);
  serveD1(app, DATABASES, account);
  serveAccess(app, `${HERE}/access/apps`, account);
  app.get(`${BUCKETS}/:bucket`, ({ req }) => ok({ name: req.param("bucket") }));
  app.get(`${BUCKETS}/:bucket/objects/:name{.+}`, ({ req }) => {
    const object = account.objects.get(req.param("name"));
    return object === undefined ? missing() : new Response(object);
  });
  app.put(`${BUCKETS}/:bucket/objects/:name{.+}`, async ({ req }) => {
    account.objects.set(req.param("name"), Buffer.from(await req.arrayBuffer()));
    return ok({});
  });

  app.get(QUEUES, ({ req }) => {
    const names = req.queries("name");
    const asked = queues.filter(({ queue_name }) => names?.includes(queue_name) ?? true);
    return ok(
      asked.map(({ consumer, ...queue }) => ({
        ...queue,
        consumers: consumer
          ? [{ ...consumer, consumer_id: idOfConsumer(/** @type {any} */ (queue)) }]
          : [],
      })),
    );
  });
  app.post(QUEUES, async ({ req }) => {
    const queue_id = `queue-${queues.length + 1}`;
    const queue = { queue_id, messages: [], ...(await req.json()) };
    if (queues.some(({ queue_name }) => queue_name === queue.queue_name))
      return failure(409, `Queue name '${queue.queue_name}' is already taken.`, 11_009);
    queues.push(queue);
    return ok(queue);
  });
  app.on(["POST", "PUT"], `${QUEUES}/:id/consumers/:consumer?`, async ({ req }) => {
    const queue = queues.find(({ queue_id }) => queue_id === req.param("id"));
    const { script_name: script, ...consumer } = await req.json();
    queue.consumer = { ...consumer, script };
    return ok({});
  });
  app.delete(`${QUEUES}/:id/consumers/:consumer`, ({ req }) => {
    const queue = queues.find(({ queue_id }) => queue_id === req.param("id"));
    if (!queue?.consumer || idOfConsumer(queue) !== req.param("consumer")) return missing();
    queue.consumer = undefined;
    return ok({});
  });

  app.get(`${WORKER}/settings`, ({ req }) => {
    const bound = bindings.get(req.param("worker"));
    return bound ? ok({ bindings: bound }) : missing();
  });
  app.put(WORKER, async ({ req }) => upload(account, req.param("worker"), await req.formData()));
  app.get(`${WORKER}/deployments`, ({ req }) =>
    ok({ deployments: deployments.filter(({ worker }) => worker === req.param("worker")) }),
  );
  app.post(`${WORKER}/deployments`, async ({ req }) => {
    const [{ version_id: version }] = (await req.json()).versions;
    return ok({ id: deploy(account, req.param("worker"), version) });
  });
  app.get(`${WORKER}/versions/:id`, ({ req }) => ok(versionOf(req.param("id"))));
  app.post(`${QUEUES}/:id/messages`, async ({ req }) => {
    const queue = queues.find(({ queue_id }) => queue_id === req.param("id"));
    queue?.messages.push(await req.json());
    return queue ? ok({}) : missing();
  });
  app.put(`${WORKER}/schedules`, async ({ req }) => {
    const crons = await req.json();
    schedules.set(
      req.param("worker"),
      crons.map(({ cron }) => cron),
    );
    return ok({ schedules: crons });
  });
  app.put(`${WORKER}/secrets`, async ({ req }) => {
    const { name, text, type } = await req.json();
    const bound = bindings.get(req.param("worker"));
    bound?.push({ name, type });
    secrets.set(name, text);
    return bound ? ok({ name, type }) : missing();
  });
  app.patch(`${WORKER}/script-settings`, () => ok({}));
  app.on(["GET", "POST"], `${WORKER}/subdomain`, () => ok(SUBDOMAIN));
  app.get(`${HERE}/workers/subdomain`, () => ok({ subdomain: "shop" }));
  app.get(`${HERE}/workers/workers/:name`, ({ req }) =>
    ok({ id: `id-of-${req.param("name")}`, name: req.param("name"), subdomain: SUBDOMAIN }),
  );
  return app;
}

const idOfConsumer = ({ queue_id }) => `consumer-of-${queue_id}`;

// ---- Workers -------------------------------------------------------------------------------------

const BY_ADA = { author_email: "ada@example.org", source: "wrangler" };

/**
 * Stores the bindings of an uploaded Worker as Cloudflare does. A binding that is marked as inherited keeps
 * its earlier value.
 */
function upload(account, name, parts) {
  const { bindings, observability, keep_bindings } = JSON.parse(parts.get("metadata"));
  const names = account.queues.map(({ queue_name }) => queue_name);
  const unknown = bindings.find(
    ({ type, queue_name }) => type === "queue" && !names.includes(queue_name),
  );
  if (unknown) return failure(400, `the queue ${unknown.queue_name} does not exist`);
  const ids = account.databases.map(({ uuid }) => uuid);
  const lost = bindings.find(({ type, id }) => type === "d1" && !ids.includes(id));
  if (lost)
    return failure(
      400,
      `binding ${lost.name} of type d1 must have a valid \`id\` specified`,
      10_021,
    );
  const before = account.bindings.get(name) ?? [];
  const earlier = (binding) => before.find((other) => other.name === binding);
  account.bindings.set(name, [
    ...bindings.map((binding) => (binding.type === "inherit" ? earlier(binding.name) : binding)),
    ...before.filter(({ type }) => keep_bindings?.includes(type)),
  ]);
  const modules = [...parts.keys()].filter((part) => part !== "metadata");
  account.uploads.push({ name, bindings, observability, modules });
  const id = deploy(account, name, randomUUID());
  return ok({ id: name, etag: "1", startup_time_ms: 1, deployment_id: id });
}

/** Deploys a version of a Worker: all traffic goes to this version. */
function deploy({ deployments }, worker, version) {
  const id = randomUUID();
  deployments.unshift({
    id,
    worker,
    ...BY_ADA,
    strategy: "percentage",
    created_on: new Date().toISOString(),
    annotations: {},
    versions: [{ version_id: version, percentage: 100 }],
  });
  return id;
}

const versionOf = (id) => ({
  id,
  number: 1,
  metadata: { created_on: new Date().toISOString(), ...BY_ADA },
  annotations: {},
  resources: { bindings: [], script: {}, script_runtime: {} },
});
