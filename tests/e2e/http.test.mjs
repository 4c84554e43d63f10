/** The rows of tests/fixtures/http, answered by the real Worker with real local KV. */
import { randomUUID } from "node:crypto";
import test, { after } from "node:test";
import { files, assertAnswer, requestOf } from "./rows.mjs";
import { send, startWorker } from "./worker.mjs";

/** One Worker for each configuration that a file asks for. @type {Map<string, Promise<import("./worker.mjs").Worker>>} */
const workers = new Map();

function workerFor(allowedOrigins = "") {
  if (!workers.has(allowedOrigins)) workers.set(allowedOrigins, startWorker({ allowedOrigins }));
  return workers.get(allowedOrigins);
}

after(async () => {
  for (const worker of workers.values()) await (await worker).close();
});

for (const { file, allowedOrigins, rows } of files("http")) {
  test(file, async (t) => {
    const { origin } = await workerFor(allowedOrigins);
    const names = { origin, run: randomUUID() };
    for (const row of rows) {
      await t.test(row.name, async () => assertAnswer(row, await send(origin, requestOf(row, names)), names));
    }
  });
}
