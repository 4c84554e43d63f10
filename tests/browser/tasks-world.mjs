/** What the ten tasks of tasks.test.mjs are about: shops with orders of an ended month, failed e-mails, and a shop without orders. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { until } from "../support/until.mjs";
import { MONTH } from "./demo.mjs";

const DAY_MS = 24 * 3_600_000;
export const SHOPS = Array.from(
  { length: 13 },
  (_, at) => `shop_${String(at + 1).padStart(2, "0")}`,
); // the demo has 2 more

const keyRecord = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

/** Creates a transaction as a shop's server does, and returns its ID. */
async function order(dashboard, key, reference, more = {}) {
  const service = await dashboard.harness.getWorker("impact-pledge");
  const { offeringId = "tree", amount = 4, email = "nina@example.org", ...rest } = more;
  const answer = await service.fetch("https://service.example/v2/pledge-transaction", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      reference,
      recipient: { email, firstName: "Nina" },
      pledges: [{ impact: { offeringId, amount } }],
      trigger: { phrase: "Order placed" },
      ...rest,
    }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()).id;
}

/** Moves transactions to another time, in Workers KV. */
async function moveTo({ kv }, createdAt, ids) {
  for (const id of ids) {
    const { value, metadata } = await kv.getWithMetadata(`transaction:${id}`);
    const summary = { ...metadata.summary, createdAt };
    await kv.put(`transaction:${id}`, JSON.stringify({ ...JSON.parse(value), createdAt }), {
      metadata: { ...metadata, summary },
    });
  }
}

/** Records failed e-mails about transactions. */
async function failEmails({ kv }, ids) {
  const at = new Date().toISOString();
  for (const id of ids) {
    const marker = { state: "failed", reason: "E_INTERNAL", round: 1, attempts: 6, at, version: 1 };
    await kv.put(`mail-failed:${at.slice(0, 10)}:${id}`, "{}");
    await kv.put(`notification:${id}`, JSON.stringify(marker));
  }
}

/** Adds what the tasks are about to the demo. */
export async function fill(dashboard) {
  const live = "service_sk_live_dev_unit";
  const { value, metadata } = await dashboard.kv.getWithMetadata(keyRecord(live));
  const key = (shop) => `service_sk_live_${shop}`;
  for (const shop of SHOPS) {
    const own = JSON.stringify({ ...JSON.parse(value), unit: shop });
    await dashboard.kv.put(keyRecord(key(shop)), own, { metadata: { ...metadata, unit: shop } });
  }
  const all = SHOPS.map((shop, at) =>
    order(dashboard, key(shop), `R-${at}`, { email: at < 3 ? "rosa@example.org" : undefined }),
  );
  const ofMonth = await Promise.all(all);
  const coral = await order(dashboard, key("shop_01"), "R-coral", {
    offeringId: "plastic-kg",
    amount: 99,
  });
  const mailed = { notifications: ["Email"] };
  const failed = await Promise.all(
    [1, 2, 3].map((at) => order(dashboard, live, `F-${at}`, mailed)),
  );
  for (const reference of ["1053", "1054", "1055"]) await order(dashboard, live, reference);
  await moveTo(dashboard, `${MONTH}-15T12:00:00.000Z`, ofMonth);
  await moveTo(dashboard, new Date(Date.now() - 60 * DAY_MS).toISOString(), [coral]);
  await failEmails(dashboard, failed);
  const registered = { created: "2026-01-01T00:00:00.000Z", by: "operator@small-hours.example" };
  await dashboard.kv.put("unit:quiet_shop", JSON.stringify(registered), { metadata: registered });
  await dashboard.db.prepare("DELETE FROM transactions").run();
  await dashboard.db.prepare("UPDATE reconciliation SET completed = NULL, ended = NULL").run();
  await dashboard.scheduled();
  const count = () => dashboard.db.prepare("SELECT count(*) AS n FROM transactions").first("n");
  await until(async () => (await count()) > SHOPS.length + 60);
}
