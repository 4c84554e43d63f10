/**
 * As much of Cloudflare's API as wrangler and the commands ask for when they deploy Workers and roll
 * them back, and read and write their namespaces.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { openKv } from "../../scripts/lib/kv.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { tools } from "./script.mjs";

export const ACCOUNT = "account-1";
const TOKEN = "token-1";
const SCRIPT = "([\\w-]+)";
const PAGE = 2; // names in one page of a list: a client that reads one page only is found out
const MOST_READS = 100; // of one call, as Cloudflare has it
const LEAST_TTL = 60; // seconds

/**
 * @typedef {{status?: number, headers?: Record<string, string>, message?: string, delay?: number}} Fault `delay` in milliseconds
 * @param {import("node:test").TestContext} t
 * @param {{deployed?: boolean, fault?: (asked: string, account: object) => Fault | undefined}} [options]
 *   `deployed`: whether there is the Worker of wrangler.toml's top level, with its namespace; `fault`: how a request fails
 * @returns what the account holds, and the environment that leads wrangler to it
 */
export async function cloudflare(t, { deployed = true, fault = () => undefined } = {}) {
  const account = {
    records: new Map(),
    namespaces: [],
    bindings: new Map(),
    uploads: [],
    deployments: [],
    asked: [],
    fault,
  };
  if (deployed) {
    const { id } = makeNamespace(account, "impact-pledge-pledges");
    const binding = { type: "kv_namespace", name: "PLEDGES", namespace_id: id };
    account.bindings.set("impact-pledge", [binding]);
  }
  const server = createServer((request, response) => respond(request, response, account));
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
 * The records of the Worker that is deployed there. What led to them is not in `asked`.
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof cloudflare>[1] & {deadline?: number, more?: NodeJS.ProcessEnv}} [options] `deadline` of each
 *   call, by itself far beyond what any takes here; `more` of the environment
 */
export async function deployedKv(t, { deadline = 60_000, more = {}, ...options } = {}) {
  const { env, account } = await cloudflare(t, options);
  const there = { ...tools, env: { ...tools.env, ...env, ...more } };
  const kv = await openKv(there, { remote: true, deadline });
  account.asked.length = 0;
  return { kv, account, records: account.records };
}

/** The first one's records are the account's `records`, from the beginning. `extras`: what is kept beside a value. */
function makeNamespace({ namespaces, records }, title) {
  const number = namespaces.length + 1;
  const namespace = {
    id: `namespace-${number}`,
    title,
    records: number === 1 ? records : new Map(),
    extras: new Map(),
  };
  namespaces.push(namespace);
  return namespace;
}

async function respond(request, response, account) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const path = pathname.replace(`/client/v4/accounts/${ACCOUNT}`, "");
  const asked = `${request.method} ${path}`;
  account.asked.push(asked);
  const answer = await answerTo(asked, { account, request, searchParams });
  const { status = 200, headers = {}, bytes, ...body } = answer;
  if (bytes)
    return response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes);
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));
}

const failure = (status, message, code = 10_007, headers = {}) => ({
  status,
  headers,
  success: false,
  errors: [{ code, message }],
  messages: [],
  result: null,
});

async function answerTo(asked, { account, request, searchParams }) {
  const { status, headers, message = "broken", delay = 0 } = account.fault(asked, account) ?? {};
  await sleep(delay, undefined, { ref: false });
  if (status) return failure(status, message, 10_000, headers);
  if (request.headers.authorization !== `Bearer ${TOKEN}`)
    return failure(403, "Authentication error", 10_000);
  const [operation, match] = find(asked);
  const namespace = match && account.namespaces.find(({ id }) => id === match.groups?.namespace);
  const result =
    operation &&
    (await operation(account, {
      match,
      namespace,
      searchParams,
      form: () => form(request, request.headers),
    }));
  return result
    ? { success: true, errors: [], messages: [], ...result }
    : failure(404, "This does not exist on your account.");
}

function find(request) {
  for (const [pattern, operation] of OPERATIONS) {
    const match = request.match(pattern);
    if (match) return [operation, match];
  }
  return [];
}

/** The body, whatever it is. @param {import("node:http").IncomingMessage} request */
function form(request, headers) {
  const body = /** @type {ReadableStream} */ (Readable.toWeb(request));
  return new Response(body, { headers: { "content-type": headers["content-type"] } });
}

const NAMESPACES = "\\/storage\\/kv\\/namespaces";
const NAMESPACE = `${NAMESPACES}/(?<namespace>namespace-\\d+)`;
const OPERATIONS = [
  [/^GET \/client\/v4\/accounts$/, () => ({ result: [{ id: ACCOUNT, name: "Shop" }] })],
  [
    new RegExp(`^GET ${NAMESPACES}$`),
    ({ namespaces }) => ({
      result: namespaces.map(({ id, title }) => ({ id, title })),
      result_info: { page: 1, count: namespaces.length, total_count: namespaces.length },
    }),
  ],
  [
    new RegExp(`^POST ${NAMESPACES}$`),
    async (account, { form }) => ({
      result: made(makeNamespace(account, (await form().json()).title)),
    }),
  ],
  [new RegExp(`^GET ${NAMESPACE}/keys$`), listNames],
  [new RegExp(`^GET ${NAMESPACE}/values/(?<name>.+)$`), readBytes],
  [new RegExp(`^PUT ${NAMESPACE}/bulk$`), write],
  [new RegExp(`^POST ${NAMESPACE}/bulk/get$`), read],
  [new RegExp(`^POST ${NAMESPACE}/bulk/delete$`), remove],
  [
    new RegExp(`^GET /workers/scripts/${SCRIPT}/settings$`),
    ({ bindings }, { match: [, name] }) =>
      bindings.has(name) && { result: { bindings: bindings.get(name) } },
  ],
  [new RegExp(`^PUT /workers/scripts/${SCRIPT}$`), upload],
  [
    new RegExp(`^GET /workers/scripts/${SCRIPT}/deployments$`),
    (account, { match: [, name] }) => ({ result: { deployments: deploymentsOf(account, name) } }),
  ],
  [new RegExp(`^POST /workers/scripts/${SCRIPT}/deployments$`), redeploy],
  [
    new RegExp(`^GET /workers/scripts/${SCRIPT}/versions/([\\w-]+)$`),
    (_, { match: [, , id] }) => ({ result: versionOf(id) }),
  ],
  [new RegExp(`^PATCH /workers/scripts/${SCRIPT}/script-settings$`), () => ({ result: {} })],
  [/^GET \/workers\/subdomain$/, () => ({ result: { subdomain: "shop" } })],
  [
    new RegExp(`^(?:GET|POST) /workers/scripts/${SCRIPT}/subdomain$`),
    () => ({ result: { enabled: true, previews_enabled: true } }),
  ],
  [
    new RegExp(`^GET /workers/workers/${SCRIPT}$`),
    (_, { match: [, name] }) => ({
      result: { id: "worker-1", name, subdomain: { enabled: true, previews_enabled: true } },
    }),
  ],
];

const made = ({ id, title }) => ({ id, title });

function listNames(_, { namespace, searchParams }) {
  if (!namespace) return null;
  const names = [...namespace.records.keys()]
    .filter((name) => name.startsWith(searchParams.get("prefix") ?? ""))
    .sort();
  const first = Number(searchParams.get("cursor") || 0);
  const page = names.slice(first, first + PAGE);
  const cursor = first + PAGE < names.length ? String(first + PAGE) : "";
  return {
    result: page.map((name) => ({ name, ...namespace.extras.get(name) })),
    result_info: { count: page.length, cursor },
  };
}

async function write({ failing }, { namespace, form }) {
  const entries = await form().json();
  if (!namespace || entries.some(({ expiration_ttl: ttl }) => ttl < LEAST_TTL)) return null;
  const unsuccessful = failing?.splice(0) ?? [];
  for (const { key, value, base64, metadata, expiration, expiration_ttl: ttl } of entries) {
    if (unsuccessful.includes(key)) continue;
    namespace.records.set(key, base64 ? Buffer.from(value, "base64") : value);
    namespace.extras.set(key, {
      metadata,
      expiration: ttl ? Math.round(Date.now() / 1000) + ttl : expiration,
    });
  }
  return {
    result: {
      successful_key_count: entries.length - unsuccessful.length,
      unsuccessful_keys: unsuccessful,
    },
  };
}

async function read(_, { namespace, form }) {
  const { keys, withMetadata } = await form().json();
  if (!namespace || keys.length > MOST_READS) return null;
  const text = (key) => String(namespace.records.get(key));
  const entry = (key) =>
    withMetadata
      ? { value: text(key), metadata: namespace.extras.get(key)?.metadata ?? null }
      : text(key);
  return {
    result: {
      values: Object.fromEntries(
        keys.map((key) => [key, namespace.records.has(key) ? entry(key) : null]),
      ),
    },
  };
}

function readBytes(_, { namespace, match }) {
  const value = namespace?.records.get(decodeURIComponent(match.groups.name));
  return value === undefined ? null : { bytes: Buffer.from(value) };
}

async function remove(_, { namespace, form }) {
  if (!namespace) return null;
  const names = await form().json();
  for (const name of names) namespace.records.delete(name);
  return { result: { successful_key_count: names.length, unsuccessful_keys: [] } };
}

/** Keeps the bindings as the platform does: one that is inherited stays what it was. */
async function upload(account, { match: [, name], form }) {
  const parts = await form().formData();
  const { bindings, observability } = JSON.parse(parts.get("metadata"));
  const earlier = (binding) => account.bindings.get(name)?.find((other) => other.name === binding);
  account.bindings.set(
    name,
    bindings.map((binding) => (binding.type === "inherit" ? earlier(binding.name) : binding)),
  );
  account.uploads.push({
    name,
    bindings,
    observability,
    modules: [...parts.keys()].filter((part) => part !== "metadata"),
  });
  const id = deploy(account, name, randomUUID());
  return { result: { id: name, etag: "1", startup_time_ms: 1, deployment_id: id } };
}

/** All traffic of a Worker to one of its versions. */
function deploy({ deployments }, worker, version) {
  const deployment = {
    id: randomUUID(),
    worker,
    ...BY_ADA,
    strategy: "percentage",
    created_on: new Date().toISOString(),
    annotations: {},
    versions: [{ version_id: version, percentage: 100 }],
  };
  deployments.unshift(deployment);
  return deployment.id;
}

const deploymentsOf = ({ deployments }, name) =>
  deployments.filter(({ worker }) => worker === name);

const BY_ADA = { author_email: "ada@example.org", source: "wrangler" };

const versionOf = (id) => ({
  id,
  number: 1,
  metadata: { created_on: new Date().toISOString(), ...BY_ADA },
  annotations: {},
  resources: { bindings: [], script: {}, script_runtime: {} },
});

async function redeploy(account, { match: [, name], form }) {
  const {
    versions: [{ version_id: version }],
  } = await form().json();
  return { result: { id: deploy(account, name, version) } };
}
