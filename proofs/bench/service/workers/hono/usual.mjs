/** The API as users of Hono and zod write it: middleware, `zValidator`, KV by its JSON calls. */
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { requestSchema } from "../../../rivals/zod-schema.mjs";
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
  identify,
  isId,
  makeTransaction,
  sha256,
  summary,
  toRetrieved,
} from "./domain.mjs";

const app = new Hono();

app.use(async (c, next) => {
  const started = Date.now();
  await next();
  c.header("Cache-Control", "no-store");
  c.header("X-Content-Type-Options", "nosniff");
  identify(c.req.raw, c.res, started);
});

const authenticate = (refusal) =>
  createMiddleware(async (c, next) => {
    const token = bearer(c.req.header("Authorization"));
    const record = token && (await c.env.PLEDGES.get(`key:${await sha256(token)}`, "json"));
    const caller = record && callerOf(record, c.req.header("X-Service-Unit-Id"));
    if (!caller) return c.json(refusal, 401, { "WWW-Authenticate": "Bearer" });
    c.set("caller", caller);
    await next();
  });

const jsonOnly = createMiddleware(async (c, next) => {
  const type = c.req.header("Content-Type")?.split(";")[0].trim().toLowerCase();
  if (type !== "application/json") return c.json({ ...NOT_JSON, isLive: c.var.caller.isLive }, 415);
  await next();
});

const limit = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: (c) => c.json({ ...TOO_LARGE, isLive: c.var.caller.isLive }, 413),
});

const validated = zValidator("json", requestSchema, (result, c) => {
  if (result.success) return;
  return c.json(
    { error: "Invalid request", message: summary(result.error), isLive: c.var.caller.isLive },
    400,
  );
});

app.post(
  "/v2/pledge-transaction",
  authenticate(REFUSED.create),
  jsonOnly,
  limit,
  validated,
  async (c) => {
    const { unit, mode, isLive } = c.var.caller;
    const catalogue = await c.env.PLEDGES.get("catalogue:test", "json");
    const { origin } = new URL(c.req.url);
    const { transaction, editKey } = makeTransaction(c.req.valid("json"), {
      origin,
      isLive,
      catalogue,
    });
    const metadata = { mode, unit, editKey: await sha256(editKey) };
    await c.env.PLEDGES.put(
      `transaction:${transaction.id}`,
      JSON.stringify(toRetrieved(transaction)),
      { metadata },
    );
    return c.json(transaction);
  },
);

app.get("/v2/pledge-transaction/:id", authenticate(REFUSED.get), async (c) => {
  const id = c.req.param("id");
  if (!isId(id)) return c.json(NOT_FOUND, 404);
  const { value, metadata } = await c.env.PLEDGES.getWithMetadata(`transaction:${id}`, "json");
  const { unit, mode } = c.var.caller;
  if (!value || metadata.unit !== unit || metadata.mode !== mode) return c.json(NOT_FOUND, 404);
  return c.json(value);
});

app.notFound((c) => c.json({ error: "Not found", message: "Nothing is at this path." }, 404));
app.onError((error, c) => {
  if (error instanceof HTTPException)
    return c.json({ ...MALFORMED, isLive: c.var.caller?.isLive }, error.status);
  console.error(error);
  return c.json(INTERNAL, 500);
});

export default app;
