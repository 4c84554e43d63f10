/** A stand-in for the part of Cloudflare's API for Workers KV that wrangler and the commands use. */
import { failure, missing, ok } from "./cloudflare-answers.mjs";

const MOST_READS = 100; // of one call, Cloudflare's limit
const LEAST_TTL = 60; // seconds

/**
 * Creates a KV namespace in an account. The first namespace gets the account's `records`. The namespace's
 * `extras` holds the metadata and expiry of each record.
 */
export function makeNamespace({ namespaces, records }, title) {
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

const made = ({ id, title }) => ({ id, title });

/**
 * Adds the routes of Cloudflare's API for Workers KV to a server.
 * @param {import("hono").Hono} app
 * @param {string} path the path under which the account's namespaces are
 * @param {any} account
 */
export function serveKv(app, path, account) {
  const { namespaces } = account;
  app.get(path, ({ req }) => {
    const [page, size] = [Number(req.query("page") ?? 1), Number(req.query("per_page") ?? 20)];
    const some = namespaces.slice((page - 1) * size, page * size).map(made);
    return ok(some, { page, per_page: size, count: some.length, total_count: namespaces.length });
  });
  app.post(path, async ({ req }) => {
    const { title } = await req.json();
    return namespaces.some((namespace) => namespace.title === title)
      ? failure(400, "a namespace with this account ID and title already exists", 10_014)
      : ok(made(makeNamespace(account, title)));
  });
  for (const [method, rest, work] of RECORDS)
    app.on(method, `${path}/:namespace/${rest}`, async ({ req }) => {
      const namespace = namespaces.find(({ id }) => id === req.param("namespace"));
      return (namespace && (await work(namespace, req, account))) ?? missing();
    });
}

/**
 * The routes for records: method, path and handler. If a handler returns nothing, the answer is 404.
 * @type {[string, string, (namespace: any, req: any, account: any) => any][]}
 */
const RECORDS = [
  ["GET", "keys", listNames],
  ["GET", "values/:name{.+}", readBytes],
  ["PUT", "bulk", write],
  ["POST", "bulk/get", read],
  ["POST", "bulk/delete", remove],
];

function listNames({ records, extras }, req, { page: size }) {
  const prefix = req.query("prefix") ?? "";
  const names = [...records.keys()].filter((name) => name.startsWith(prefix)).sort();
  const first = Number(req.query("cursor") || 0);
  const page = names.slice(first, first + size);
  const cursor = first + size < names.length ? String(first + size) : "";
  return ok(
    page.map((name) => ({ name, ...extras.get(name) })),
    { count: page.length, cursor },
  );
}

async function write({ records, extras }, req, { failing }) {
  const entries = await req.json();
  if (entries.some(({ expiration_ttl: ttl }) => ttl < LEAST_TTL)) return undefined;
  const unsuccessful = failing?.splice(0) ?? [];
  for (const { key, value, base64, metadata, expiration, expiration_ttl: ttl } of entries) {
    if (unsuccessful.includes(key)) continue;
    records.set(key, base64 ? Buffer.from(value, "base64") : value);
    const end = ttl ? Math.round(Date.now() / 1000) + ttl : expiration;
    extras.set(key, { metadata, expiration: end });
  }
  const count = entries.length - unsuccessful.length;
  return ok({ successful_key_count: count, unsuccessful_keys: unsuccessful });
}

async function read({ records, extras }, req) {
  const { keys } = await req.json();
  if (keys.length > MOST_READS) return undefined;
  const entry = (key) => ({
    value: String(records.get(key)),
    metadata: extras.get(key)?.metadata ?? null,
  });
  const values = keys.map((key) => [key, records.has(key) ? entry(key) : null]);
  return ok({ values: Object.fromEntries(values) });
}

function readBytes({ records }, req) {
  const value = records.get(req.param("name"));
  return value === undefined ? undefined : new Response(value);
}

async function remove({ records }, req) {
  const names = await req.json();
  for (const name of names) records.delete(name);
  return ok({ successful_key_count: names.length, unsuccessful_keys: [] });
}
