/** The rows of tests/fixtures/http, answered by the service in `impact-pledge/testing`: by its `fetch`, and by its listener on a real port. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import test, { after } from "node:test";
import { assertAnswer, closeIdleConnections, files, requestOf, send } from "../e2e/rows.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { packed } from "./packed.mjs";

const { createTestService } = await (await packed()).load("impact-pledge/testing");

/** As {@link send}, by a `fetch`. */
async function sendByFetch({ fetch, baseUrl }, { method, path, headers, body, chunked }) {
  const sent = chunked ? { body: new Blob([body]).stream(), duplex: "half" } : { body };
  const response = await fetch(baseUrl + path, { method, headers, ...sent });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}

async function listen(service) {
  const server = createServer(service.handler);
  const { origin, close } = await onLoopback(server);
  after(() => {
    closeIdleConnections();
    return close();
  });
  return origin;
}

let rowCount = 0;
for (const { file, allowedOrigins, rows } of files("http")) {
  const service = createTestService({
    allowedOrigins: allowedOrigins
      ?.split(",")
      .map((origin) => origin.trim())
      .filter(Boolean),
  });
  test(`${file}, by fetch`, async (t) => {
    const names = { origin: service.baseUrl, run: randomUUID() };
    for (const row of rows) {
      rowCount += 1;
      await t.test(row.name, async () => {
        const request = requestOf(row, names);
        if (request.method === "GET" && request.body)
          return assert.rejects(sendByFetch(service, request), TypeError); // as from any `fetch`
        assertAnswer(row, await sendByFetch(service, request), names);
      });
    }
  });
  test(`${file}, by the listener`, async (t) => {
    const origin = await listen(service);
    const names = { origin, run: randomUUID() };
    for (const row of rows)
      await t.test(row.name, async () =>
        assertAnswer(row, await send(origin, requestOf(row, names)), names),
      );
  });
}

test("there were rows", () => assert.ok(rowCount > 500, `${rowCount}`));
