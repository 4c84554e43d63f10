/** As much of Cloudflare's API as wrangler asks for when it reads and writes a deployed namespace. */
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const ACCOUNT = "account-1";
const NAMESPACE = "namespace-1";
const PAGE = 2; // names in one page of a list: a client that reads one page only is found out

/** @param {import("node:test").TestContext} t @param {{deployed?: boolean}} [options] */
export async function cloudflare(t, { deployed = true } = {}) {
  const records = new Map();
  const server = createServer(async (request, response) => {
    const answer = await serve(request, records, deployed);
    const body = answer === undefined ? { success: false, errors: [{ code: 10_000, message: `no such route: ${request.method} ${request.url}` }] } : { success: true, errors: [], messages: [], ...answer };
    response.writeHead(body.success ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const env = { CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${server.address().port}/client/v4`, CLOUDFLARE_API_TOKEN: "token-1", CLOUDFLARE_ACCOUNT_ID: ACCOUNT };
  return { env, records };
}

async function serve(request, records, deployed) {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  if (request.headers.authorization !== "Bearer token-1") return undefined;
  const account = `/client/v4/accounts/${ACCOUNT}`;
  if (pathname === `${account}/workers/scripts/impact-pledge/settings`) return settings(deployed);
  const namespace = `${account}/storage/kv/namespaces/${NAMESPACE}`;
  if (!pathname.startsWith(namespace)) return undefined;
  const [, resource, name] = pathname.slice(namespace.length).match(/^\/(bulk\/get|bulk|keys|values)(?:\/(.+))?$/) ?? [];
  return OPERATIONS[`${request.method} ${resource}`]?.(records, { name: decodeURIComponent(name ?? ""), searchParams, body: () => json(request) });
}

function settings(deployed) {
  return deployed ? { result: { bindings: [{ type: "kv_namespace", name: "PLEDGES", namespace_id: NAMESPACE }] } } : { success: false, errors: [{ code: 10_007, message: "This Worker does not exist on your account." }] };
}

const OPERATIONS = {
  "GET keys": (records, { searchParams }) => {
    const names = [...records.keys()].filter((name) => name.startsWith(searchParams.get("prefix") ?? "")).sort();
    const first = Number(searchParams.get("cursor") || 0);
    const page = names.slice(first, first + PAGE);
    const cursor = first + PAGE < names.length ? String(first + PAGE) : "";
    return { result: page.map((name) => ({ name })), result_info: { count: page.length, cursor } };
  },
  "PUT bulk": async (records, { body }) => {
    for (const { key, value } of await body()) records.set(key, value);
    return { result: {} };
  },
  "POST bulk/get": async (records, { body }) => {
    const { keys } = await body();
    if (keys.length > 100) return undefined; // Cloudflare's limit
    return { result: { values: Object.fromEntries(keys.map((key) => [key, records.get(key) ?? null])) } };
  },
  "DELETE values": (records, { name }) => {
    records.delete(name);
    return { result: {} };
  },
};
