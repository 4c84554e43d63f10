/** As much of Cloudflare's API as wrangler asks for when it deploys and deletes Workers and reads and writes their namespace. */
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";

const ACCOUNT = "account-1";
const TOKEN = "token-1";
const SCRIPT = "([\\w-]+)";
const PAGE = 2; // names in one page of a list: a client that reads one page only is found out
const MOST_READS = 100; // of one call, as Cloudflare has it

/**
 * @param {import("node:test").TestContext} t
 * @param {{deployed?: boolean, refused?: RegExp}} [options] `refused`: requests that fail
 * @returns what the account holds, and the environment that leads wrangler to it
 */
export async function cloudflare(t, { deployed = true, refused } = {}) {
  const account = { records: new Map(), namespaces: [], bindings: null, uploads: [], workers: new Set(), asked: [], refused };
  if (deployed) makeNamespace(account, "made before");
  if (deployed) account.bindings = [{ type: "kv_namespace", name: "PLEDGES", namespace_id: account.namespaces[0].id }];
  const server = createServer((request, response) => respond(request, response, account));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${server.address().port}`;
  const env = { CLOUDFLARE_API_BASE_URL: `${origin}/client/v4`, CLOUDFLARE_API_TOKEN: TOKEN, CLOUDFLARE_ACCOUNT_ID: ACCOUNT };
  return { env, account };
}

function makeNamespace({ namespaces }, title) {
  const namespace = { id: `namespace-${namespaces.length + 1}`, title };
  namespaces.push(namespace);
  return namespace;
}

async function respond(request, response, account) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const path = pathname.replace(`/client/v4/accounts/${ACCOUNT}`, "");
  const asked = `${request.method} ${path}`;
  account.asked.push(asked);
  const authorized = request.headers.authorization === `Bearer ${TOKEN}` && !account.refused?.test(asked);
  const [operation, match] = find(asked);
  const answer = authorized && operation && (await operation(account, { match, searchParams, form: () => form(request, request.headers) }));
  const body = answer ? { success: true, errors: [], messages: [], ...answer } : { success: false, errors: [{ code: 10_007, message: "This does not exist on your account." }], messages: [], result: null };
  response.writeHead(answer ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function find(request) {
  for (const [pattern, operation] of OPERATIONS) {
    const match = request.match(pattern);
    if (match) return [operation, match];
  }
  return [];
}

/** The body, whatever it is. */
const form = (request, headers) => new Response(Readable.toWeb(request), { headers: { "content-type": headers["content-type"] } });

const NAMESPACES = "\\/storage\\/kv\\/namespaces";
const OPERATIONS = [
  [new RegExp(`^GET ${NAMESPACES}$`), ({ namespaces }) => ({ result: namespaces, result_info: { page: 1, count: namespaces.length, total_count: namespaces.length } })],
  [new RegExp(`^POST ${NAMESPACES}$`), async (account, { form }) => ({ result: makeNamespace(account, (await form().json()).title) })],
  [new RegExp(`^DELETE ${NAMESPACES}/namespace-1$`), ({ namespaces }) => ({ result: namespaces.splice(0, 1) })],
  [new RegExp(`^GET ${NAMESPACES}/namespace-1/keys$`), listNames],
  [new RegExp(`^PUT ${NAMESPACES}/namespace-1/bulk$`), write],
  [new RegExp(`^POST ${NAMESPACES}/namespace-1/bulk/get$`), read],
  [new RegExp(`^DELETE ${NAMESPACES}/namespace-1/values/(.+)$`), ({ records }, { match: [, name] }) => ({ result: records.delete(decodeURIComponent(name)) })],
  [new RegExp(`^GET /workers/scripts/${SCRIPT}/settings$`), ({ bindings }) => bindings && { result: { bindings } }],
  [new RegExp(`^PUT /workers/scripts/${SCRIPT}$`), upload],
  [new RegExp(`^DELETE /workers/services/${SCRIPT}$`), ({ workers }, { match: [, name] }) => workers.delete(name) && { result: null }],
  [/^GET \/workers\/subdomain$/, () => ({ result: { subdomain: "shop" } })],
  [new RegExp(`^(?:GET|POST) /workers/scripts/${SCRIPT}/subdomain$`), () => ({ result: { enabled: true, previews_enabled: true } })],
  [new RegExp(`^GET /workers/workers/${SCRIPT}$`), () => ({ result: { id: "worker-1", name: "impact-pledge", subdomain: { enabled: true, previews_enabled: true } } })],
];

function listNames({ records }, { searchParams }) {
  const names = [...records.keys()].filter((name) => name.startsWith(searchParams.get("prefix") ?? "")).sort();
  const first = Number(searchParams.get("cursor") || 0);
  const page = names.slice(first, first + PAGE);
  const cursor = first + PAGE < names.length ? String(first + PAGE) : "";
  return { result: page.map((name) => ({ name })), result_info: { count: page.length, cursor } };
}

async function write({ records }, { form }) {
  for (const { key, value } of await form().json()) records.set(key, value);
  return { result: {} };
}

async function read({ records }, { form }) {
  const { keys } = await form().json();
  return keys.length <= MOST_READS && { result: { values: Object.fromEntries(keys.map((key) => [key, records.get(key) ?? null])) } };
}

/** Keeps the bindings as the platform does: one that is inherited stays what it was. */
async function upload(account, { match: [, name], form }) {
  const parts = await form().formData();
  const { bindings, observability, placement } = JSON.parse(parts.get("metadata"));
  const earlier = (name) => account.bindings?.find((binding) => binding.name === name);
  account.bindings = bindings.map((binding) => (binding.type === "inherit" ? earlier(binding.name) : binding));
  account.uploads.push({ name, bindings, observability, placement, modules: [...parts.keys()].filter((part) => part !== "metadata") });
  account.workers.add(name);
  return { result: { id: name, etag: "1", startup_time_ms: 1, deployment_id: "deployment-1" } };
}
