/**
 * The rows of tests/fixtures/http and tests/fixtures/records, answered by the real Worker with real
 * local KV.
 */
import { randomUUID } from "node:crypto";
import test, { after } from "node:test";
import { files, assertAnswer, requestOf } from "./rows.mjs";
import { send, startWorker } from "./worker.mjs";

/**
 * One Worker for each configuration and each set of records that a file asks for.
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

for (const { file, rows, ...needs } of [...files("http"), ...files("records")]) {
  test(file, async (t) => {
    const { origin } = await workerFor({ file, ...needs });
    const names = { origin, run: randomUUID() };
    for (const row of rows) {
      await t.test(row.name, async () =>
        assertAnswer(row, await send(origin, requestOf(row, names)), names),
      );
    }
  });
}
