/**
 * Tests the rows of tests/fixtures/http and tests/fixtures/records, and a sample of the rows of validation, against the real
 * Worker with real local KV.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after } from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { assertAnswer, requestOf, send } from "../support/http-rows.mjs";
import { startWorker } from "./worker.mjs";

/**
 * The running Workers: one for each pair of a configuration and a set of records that a test file needs.
 * @type {Map<string, Promise<import("./worker.mjs").Worker>>}
 */
const workers = new Map();

function workerFor({ file, allowedOrigins = "", records }) {
  const which = records ? file : allowedOrigins;
  if (!workers.has(which)) workers.set(which, startWorker({ allowedOrigins, records }));
  return workers.get(which);
}

after(async () => {
  for (const worker of workers.values()) await (await worker).close();
});

for (const { file, rows, origin: elsewhere, ...needs } of [
  ...fixturesIn("http"),
  ...fixturesIn("records"),
]) {
  test(file, async (t) => {
    const { origin } = await workerFor({ file, ...needs });
    const names = { origin: elsewhere ?? origin, run: randomUUID() };
    const host = elsewhere ? { host: new URL(elsewhere).host } : {};
    for (const row of rows) {
      await t.test(row.name, async () => {
        const { headers, ...request } = requestOf(row, names);
        const answer = await send(origin, { ...request, headers: { ...host, ...headers } });
        assertAnswer(row, answer, names);
      });
    }
  });
}

const isValid = ({ issues }) => issues.length === 0;
const headers = {
  authorization: "Bearer service_sk_test_dev_unit",
  "content-type": "application/json",
};

/**
 * All validation rows run in the native tests, in the package's tests and in Chromium. These few show that
 * the Worker uses the same rules.
 */
test("the first valid and the first invalid row of each file of validation", async (t) => {
  const { origin } = await workerFor({ file: "" });
  for (const { file, rows } of fixturesIn("validation")) {
    for (const row of [rows.find(isValid), rows.find((row) => !isValid(row))]) {
      if (!row) continue;
      const body = row.hex ? Buffer.from(row.hex, "hex") : (row.json ?? JSON.stringify(row.value));
      await t.test(`${file}: ${row.name}`, async () => {
        const { status, text } = await send(origin, {
          method: "POST",
          path: "/v2/pledge-transaction",
          headers,
          body,
        });
        assert.equal(status, isValid(row) ? 200 : 400, text);
        for (const { path } of row.issues.slice(0, 20))
          assert.ok(text.includes(path.map((step) => `/${step}`).join("")), text);
      });
    }
  }
});
