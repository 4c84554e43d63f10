/** Tests the rows of tests/fixtures/http against the service in `impact-pledge/testing`, behind a Node server. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import test from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { assertAnswer, closeIdleConnections, requestOf, send } from "../support/http-rows.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { packed } from "./packed.mjs";

const { createTestService } = await (await packed()).load("impact-pledge/testing");

let rowCount = 0;
for (const { file, allowedOrigins = "", origin: elsewhere, rows } of fixturesIn("http")) {
  test(file, async (t) => {
    const list = allowedOrigins.split(",").map((origin) => origin.trim());
    const { handler, fetch } = createTestService({ allowedOrigins: list.filter(Boolean) });
    const { origin, close } = await onLoopback(createServer(handler));
    t.after(() => {
      closeIdleConnections();
      return close();
    });
    const names = { origin: elsewhere ?? origin, run: randomUUID() };
    for (const row of rows) {
      rowCount += 1;
      await t.test(row.name, async () => {
        const request = requestOf(row, names);
        const isHere = elsewhere === undefined;
        const answer = isHere ? send(origin, request) : fetched(fetch, elsewhere, request);
        assertAnswer(row, await answer, names);
      });
    }
  });
}

/**
 * Sends a row's request to the service's own `fetch`, and returns the answer. Such a request can have the
 * origin of another machine, unlike an HTTP request to the Node server.
 */
async function fetched(fetch, origin, { path, ...request }) {
  const response = await fetch(origin + path, request);
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), text: await response.text() };
}

test("all rows were run", () => assert.ok(rowCount > 500, `${rowCount}`));
