/** Tests the client of the packed npm package against the real Worker, with local KV. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after } from "node:test";
import { packed } from "../package/packed.mjs";
import { startWorker } from "./worker.mjs";

const { ApiError, AuthenticationError, NotFoundError, PledgeClient, responseOf } = await (
  await packed()
).load();
const worker = await startWorker();
after(() => worker?.close());

const client = (options = {}) =>
  new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: worker.origin, ...options });
const pledge = (amount, offeringId = "tree") => ({ impact: { amount, offeringId } });
const order = (changes = {}) => ({
  reference: randomUUID(),
  recipient: { email: "ada@example.org" },
  pledges: [pledge(2)],
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
  assert.deepEqual([created.reference, created.recipient], [request.reference, request.recipient]);
  assert.deepEqual(created.charge, { amount: "6.00", currencyCode: "USD", paidAt: null });
  assert.deepEqual(created.notifications, [{ type: "Email", status: "Pending" }]);
  assert.deepEqual(created.trigger, { ...request.trigger, externalUrl: null });
  assert.deepEqual([responseOf(created).status, responseOf(created).retries], [200, 0]);
  const { id, recipient, pledges, ...same } = created;
  const got = await client().getPledgeTransaction(id);
  const kept = pledges.map(({ detail, ...rest }) => ({ ...rest, details: [detail], recipient }));
  assert.deepEqual(got, { ...same, pledges: kept });
});

test("a key reads only transactions of its unit and mode, and each refusal has its error", async () => {
  const live = client({ apiKey: "service_sk_live_dev_unit" });
  const { id, isLive } = await live.createPledgeTransaction(order());
  assert.deepEqual([isLive, (await live.getPledgeTransaction(id)).isLive], [true, true]);
  await assert.rejects(client().getPledgeTransaction(id), NotFoundError);

  const team = client({ apiKey: "service_sk_test_dev_team" });
  await assert.rejects(
    team.createPledgeTransaction(order()),
    (error) => error instanceof AuthenticationError && /X-Service-Unit-Id/.test(error.message),
  );
  const made = await team.createPledgeTransaction(order(), { unitId: "unit_dev" });
  assert.equal((await client().getPledgeTransaction(made.id)).isLive, false);
  const other = client({ apiKey: "service_sk_test_dev_team", unitId: "unit_dev_two" });
  await assert.rejects(other.getPledgeTransaction(made.id), NotFoundError);

  const stranger = client({ apiKey: "service_sk_test_nobody" });
  const refused = (text) => (error) => error instanceof AuthenticationError && error.error === text;
  await assert.rejects(stranger.createPledgeTransaction(order()), refused("true"));
  await assert.rejects(stranger.getPledgeTransaction(id), refused("Authentication failed"));
});

test("a retry returns the first transaction, also if the first answer was lost", async () => {
  const idempotencyKey = `order "${randomUUID()}" \\ 1`;
  const request = order();
  const first = await client().createPledgeTransaction(request, { idempotencyKey });
  const second = await client().createPledgeTransaction(request, { idempotencyKey });
  assert.deepEqual(second, first);
  const replayed = [first, second].map((created) => responseOf(created).idempotentReplayed);
  assert.deepEqual(replayed, [false, true]);
  await assert.rejects(
    client().createPledgeTransaction(order(), { idempotencyKey }),
    (error) => error instanceof ApiError && error.status === 422,
  );

  const ids = [];
  const losing = async (url, init) => {
    const response = await fetch(url, init);
    if (ids.length > 0) return response;
    ids.push((await response.json()).id);
    throw new TypeError("the connection broke");
  };
  const safe = client({ retryCreates: true, fetch: losing });
  const created = await safe.createPledgeTransaction(order());
  assert.deepEqual([[created.id], responseOf(created).idempotentReplayed], [ids, true]);
});
