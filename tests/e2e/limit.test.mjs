/** The rate limit of refused keys, on the running Worker. */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { create, startWorker } from "./worker.mjs";

const LIMIT = 100; // of wrangler.toml
const ORDER = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

/** @type {import("./worker.mjs").Worker} */
let worker;
before(async () => (worker = await startWorker()));
after(() => worker?.close());

const from = (address, key) => create(worker.origin, key, ORDER, { "cf-connecting-ip": address });

test("beyond the limit a network's keys are refused unread, with 429; others are served", async () => {
  assert.equal((await from("203.0.113.7", "service_sk_test_dev_unit")).status, 200);
  const answers = [];
  for (let number = 0; number < 3 * LIMIT; number++)
    answers.push(await from("203.0.113.7", `service_sk_test_guess_${number}`));
  const statuses = answers.map(({ status }) => status);
  const refused = statuses.filter((status) => status === 401).length;
  assert.ok(refused >= LIMIT && refused <= 2 * LIMIT, `${refused}`); // a minute may end on the way
  assert.deepEqual([statuses[0], ...new Set(statuses)], [401, 401, 429]);
  const { headers, text } = answers.at(-1);
  assert.equal(headers["retry-after"], "60");
  assert.deepEqual(Object.keys(JSON.parse(text)), ["error", "message"]);
  assert.equal(
    (await from("203.0.113.7", "service_sk_test_dev_unit")).status,
    200,
    "a key that is known by now",
  );
  assert.equal((await from("203.0.113.8", "service_sk_test_guess")).status, 401, "another network");
  assert.ok(
    worker
      .logs()
      .some(
        ({ message }) =>
          message.includes('"status":429') && message.includes('"cause":"too-many-refused-keys"'),
      ),
  );
});
