/** The packed package's client and our own service: the real Worker, with real local KV. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after } from "node:test";
import { packed } from "../package/packed.mjs";
import { startWorker } from "./worker.mjs";

const { ApiError, AuthenticationError, NotFoundError, PledgeClient, responseOf } = await (
  await packed()
).load();
const worker = await startWorker();
after(() => worker.close());

const TEST = "service_sk_test_dev_unit";
const client = (options = {}) =>
  new PledgeClient({ apiKey: TEST, baseUrl: worker.origin, ...options });
const pledge = (amount = 2, offeringId = "tree") => ({ impact: { amount, offeringId } });
const order = (changes = {}) => ({
  reference: randomUUID(),
  recipient: { email: "ada@example.org" },
  pledges: [pledge()],
  ...changes,
});

test("a transaction is created and got", async () => {
  const request = order({
    recipient: { email: "ada@example.org", firstName: "Ada", name: "Ada Lovelace" },
    pledges: [
      pledge(2),
      { ...pledge(4, "plastic-kg"), detail: { nounSingular: "kilogram", externalId: "é✓" } },
    ],
    trigger: { date: "2026-01-31T12:00:00Z", phrase: "placed an order" },
    notifications: ["Email"],
  });
  const created = await client().createPledgeTransaction(request);
  assert.match(created.id, /^ptran_/);
  assert.deepEqual(
    [created.reference, created.recipient, created.isLive],
    [request.reference, request.recipient, false],
  );
  assert.deepEqual(created.charge, { amount: "6.00", currencyCode: "USD", paidAt: null });
  assert.deepEqual(created.notifications, [{ type: "Email", status: "Pending" }]);
  assert.equal(created.pledges[1].detail.externalId, "é✓");
  assert.deepEqual(created.trigger, { ...request.trigger, externalUrl: null });
  assert.deepEqual([responseOf(created).status, responseOf(created).retries], [200, 0]);
  const { id: _id, recipient, pledges, ...same } = created;
  const got = await client().getPledgeTransaction(created.id);
  assert.deepEqual(got, {
    ...same,
    pledges: pledges.map(({ detail, ...rest }) => ({ ...rest, details: [detail], recipient })),
  });
});

test("a live key makes live records, which a test key does not find", async () => {
  const live = client({ apiKey: "service_sk_live_dev_unit" });
  const { id, isLive } = await live.createPledgeTransaction(order());
  assert.equal(isLive, true);
  assert.equal((await live.getPledgeTransaction(id)).isLive, true);
  await assert.rejects(
    client().getPledgeTransaction(id),
    (error) => error instanceof NotFoundError && error.status === 404,
  );
});

test("a team's key needs its unit, of the client or of the call", async () => {
  const team = client({ apiKey: "service_sk_test_dev_team" });
  await assert.rejects(
    team.createPledgeTransaction(order()),
    (error) => error instanceof AuthenticationError && /X-Service-Unit-Id/.test(error.message),
  );
  const { id } = await team.createPledgeTransaction(order(), { unitId: "unit_dev" });
  assert.equal((await client().getPledgeTransaction(id)).isLive, false);
  const other = client({ apiKey: "service_sk_test_dev_team", unitId: "unit_dev_two" });
  await assert.rejects(other.getPledgeTransaction(id), NotFoundError);
});

test("a wrong key is an AuthenticationError with each operation's body", async () => {
  const stranger = client({ apiKey: "service_sk_test_nobody" });
  await assert.rejects(
    stranger.createPledgeTransaction(order()),
    (error) => error instanceof AuthenticationError && error.error === "true",
  );
  await assert.rejects(
    stranger.getPledgeTransaction("ptran_x"),
    (error) => error instanceof AuthenticationError && error.error === "Authentication failed",
  );
});

test("a repeat under one name is answered with the first transaction; another payload is refused", async () => {
  const idempotencyKey = `order "${randomUUID()}" \\ 1`;
  const request = order();
  const first = await client().createPledgeTransaction(request, { idempotencyKey });
  const second = await client().createPledgeTransaction(request, { idempotencyKey });
  assert.deepEqual(second, first);
  assert.deepEqual(
    [responseOf(first).idempotentReplayed, responseOf(second).idempotentReplayed],
    [false, true],
  );
  await assert.rejects(
    client().createPledgeTransaction(order(), { idempotencyKey }),
    (error) =>
      error instanceof ApiError && error.status === 422 && error.idempotencyKey === idempotencyKey,
  );
});

test("a create whose answer is lost is repeated safely, and recorded once", async () => {
  let calls = 0;
  const ids = [];
  const losing = async (url, init) => {
    const response = await fetch(url, init);
    calls += 1;
    if (calls > 1) return response;
    ids.push((await response.json()).id);
    throw new TypeError("the connection broke");
  };
  const created = await client({ safeRepeats: true, fetch: losing }).createPledgeTransaction(
    order(),
  );
  assert.deepEqual([calls, created.id], [2, ids[0]]);
  assert.equal(responseOf(created).idempotentReplayed, true);
});
