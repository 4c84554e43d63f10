/**
 * The API built with Hono and zod, for comparison. It has everything that made our service fast:
 *
 * - caches of keys and of the price list
 * - concurrent reads of the key and the record
 * - stored records that are streamed back unchanged
 * - answers that are built once
 * - no needless middleware
 *
 * It lacks `Idempotency-Key`, the timeline, CORS, e-mails, teams and deadlines. It limits neither memory nor
 * refused keys. It accepts duplicate members and lone surrogates, and does not support amounts of every size.
 *
 * Its metadata is not enough for operators to list transactions: it lacks the keyed hashes of order and
 * recipient, the prices, and the key of the create request. The ID lacks these hashes, too.
 */
import { Hono } from "hono";
import { requestSchema } from "../../rivals/zod-schema.mjs";
import {
  INTERNAL,
  MALFORMED,
  MAX_BODY_BYTES,
  NOT_FOUND,
  NOT_JSON,
  REFUSED,
  TOO_LARGE,
  bearer,
  callerOf,
  hasEnded,
  identify,
  isId,
  makeTransaction,
  sha256,
  summary,
  toRetrieved,
} from "./domain.mjs";

const LIFETIME_MS = 10_000;
const MAX_KEYS = 1_024;
const HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

const keys = new Map();
const settlements = new Map();
let priceList = { value: null, expires: 0 };

async function keyRecord(env, token) {
  const now = Date.now();
  const known = keys.get(token);
  if (known && now < known.expires) return known.record;
  const record = await env.PLEDGES.get(`key:${await sha256(token)}`, "json");
  if (!record) return null;
  if (keys.size >= MAX_KEYS) keys.clear();
  keys.set(token, { record, expires: now + LIFETIME_MS });
  return record;
}

async function prices(env) {
  const now = Date.now();
  if (now >= priceList.expires)
    priceList = {
      value: await env.PLEDGES.get("catalogue:test", "json"),
      expires: now + LIFETIME_MS,
    };
  return priceList.value;
}

/**
 * Returns when the transaction's month was paid; null if the month is unpaid. Once the month has ended, reads
 * its settlement, which is the month's payment record. Before that, reads nothing.
 */
async function paidAt(env, { mode, unit, summary }) {
  const now = Date.now();
  const month = summary.createdAt.slice(0, "2026-11".length);
  if (!hasEnded(month, now)) return null;
  const name = `settlement:${mode}:${unit}:${month}`;
  let known = settlements.get(name);
  if (!known || now >= known.expires) {
    known = { value: await env.PLEDGES.get(name, "json"), expires: now + LIFETIME_MS };
    if (settlements.size >= MAX_KEYS) settlements.clear();
    settlements.set(name, known);
  }
  return known.value?.paidAt ?? null;
}

const answer = (body, status = 200, headers = HEADERS) =>
  new Response(JSON.stringify(body), { status, headers });
const refuse = (body) => answer(body, 401, { ...HEADERS, "www-authenticate": "Bearer" });

async function create(c) {
  const token = bearer(c.req.raw.headers.get("authorization"));
  const record = token && (await keyRecord(c.env, token));
  const caller = record && callerOf(record);
  if (!caller) return refuse(REFUSED.create);
  const { unit, mode, isLive } = caller;
  const type = c.req.raw.headers.get("content-type")?.split(";")[0].trim().toLowerCase();
  if (type !== "application/json") return answer({ ...NOT_JSON, isLive }, 415);
  const body = await readBody(c.req.raw);
  if (body === null) return answer({ ...TOO_LARGE, isLive }, 413);
  const payload = parse(body);
  if (payload === undefined) return answer({ ...MALFORMED, isLive }, 400);
  const { success, data, error } = requestSchema.safeParse(payload);
  if (!success) return answer({ error: "Invalid request", message: summary(error), isLive }, 400);
  const { origin } = new URL(c.req.url);
  const { transaction, editKey } = makeTransaction(data, {
    origin,
    isLive,
    priceList: await prices(c.env),
  });
  const { createdAt } = transaction;
  const metadata = { mode, unit, editKey: await sha256(editKey), summary: { createdAt } };
  await c.env.PLEDGES.put(
    `transaction:${transaction.id}`,
    JSON.stringify(toRetrieved(transaction)),
    { metadata },
  );
  return answer(transaction);
}

/**
 * Reads the body; returns null if it is too long. If the request does not announce a length, counts the bytes
 * while they arrive.
 */
async function readBody(request) {
  const length = request.headers.get("content-length");
  if (length !== null) return Number(length) > MAX_BODY_BYTES ? null : request.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) return null;
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function get(c) {
  const token = bearer(c.req.raw.headers.get("authorization"));
  if (!token) return refuse(REFUSED.get);
  const id = c.req.param("id");
  const name = `transaction:${id}`;
  const [record, found] = await Promise.all([
    keyRecord(c.env, token),
    isId(id) ? c.env.PLEDGES.getWithMetadata(name, "stream") : null,
  ]);
  const caller = record && callerOf(record);
  if (!caller) return refuse(REFUSED.get);
  if (!found?.value || found.metadata.unit !== caller.unit || found.metadata.mode !== caller.mode)
    return answer(NOT_FOUND, 404);
  const paid = await paidAt(c.env, found.metadata);
  if (paid === null) return new Response(found.value, { headers: HEADERS });
  const unpaid = await new Response(found.value).text();
  const text = unpaid.replace('"paidAt":null', `"paidAt":"${paid}"`);
  return new Response(text, { headers: HEADERS });
}

const app = new Hono();
app.post("/v2/pledge-transaction", create);
app.get("/v2/pledge-transaction/:id", get);
app.notFound(() => answer({ error: "Not found", message: "Nothing is at this path." }, 404));
app.onError((error) => {
  console.error(error);
  return answer(INTERNAL, 500);
});

export default {
  async fetch(request, env, context) {
    const started = Date.now();
    const response = await app.fetch(request, env, context);
    identify(request, response, started);
    return response;
  },
};
