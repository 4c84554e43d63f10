/**
 * Tests the schema in routers that accept a Standard Schema: a valid request passes, and each issue has its path.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { sValidator } from "@hono/standard-validator";
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { Hono } from "hono";
import { REQUEST } from "../package/mock-server.mjs";
import { packed } from "../package/packed.mjs";

const { createPledgeTransactionSchema, validate } = await (await packed()).load(
  "impact-pledge/validate",
);

const WRONG = {
  ...REQUEST,
  recipient: { email: "ada@" },
  pledges: [REQUEST.pledges[0], { impact: { amount: 0, offeringId: "tree" } }],
};
/**
 * The issues that the package's own function finds. A library may add members to an issue, but must keep these.
 */
const PROBLEMS = validate(WRONG).map(({ path, message }) => ({ path, message }));
const essentials = (issues) => issues.map(({ path, message }) => ({ path, message }));

test("the invalid request has two issues", () => {
  assert.deepEqual(
    PROBLEMS.map(({ path }) => path),
    [
      ["recipient", "email"],
      ["pledges", 1, "impact", "amount"],
    ],
  );
  for (const { message } of PROBLEMS) assert.match(message, /^must be /);
});

const post = (app, body) =>
  app.request("/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("Hono's standard validator", async () => {
  const app = new Hono().post("/orders", sValidator("json", createPledgeTransactionSchema), (c) =>
    c.json(c.req.valid("json")),
  );
  const accepted = await post(app, REQUEST);
  assert.deepEqual([accepted.status, await accepted.json()], [200, REQUEST]);
  const refused = await post(app, WRONG);
  assert.equal(refused.status, 400);
  assert.deepEqual(essentials((await refused.json()).error), PROBLEMS);
});

/** The error formatter of a shop that uses tRPC. It passes the issues on to the shop's client. */
const errorFormatter = ({ shape, error }) => ({
  ...shape,
  data: { ...shape.data, issues: error.cause?.issues },
});
const { procedure, router } = initTRPC.create({ errorFormatter });
const orders = router({
  place: procedure.input(createPledgeTransactionSchema).mutation(({ input }) => input),
});

test("tRPC", async () => {
  const ask = (body) =>
    fetchRequestHandler({
      endpoint: "/trpc",
      router: orders,
      createContext: () => ({}),
      req: new Request("http://shop.test/trpc/place", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
  assert.deepEqual((await (await ask(REQUEST)).json()).result.data, REQUEST);
  const refused = await ask(WRONG);
  assert.equal(refused.status, 400);
  assert.deepEqual(essentials((await refused.json()).error.data.issues), PROBLEMS);
});
