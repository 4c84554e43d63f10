/** Tests how `wrangler dev` is started. A stand-in program takes wrangler's place. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { serve } from "../../scripts/lib/serve.mjs";
import { testPort } from "../support/port.mjs";

/** The code of a program that fails with a message a given number of times, and then serves requests. */
const WRANGLER = `
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
const [, , , ...args] = process.argv;
const { fails, says, log } = JSON.parse(readFileSync(new URL("./plan.json", import.meta.url)));
appendFileSync(log, "start ");
if (readFileSync(log, "utf8").split("start").length - 1 <= fails) {
  console.error(says);
  process.exit(1);
}
createServer((_, response) => response.end("ok")).listen(Number(args[args.indexOf("--port") + 1]), "127.0.0.1");
`;

async function started(t, plan) {
  const root = mkdtempSync(join(tmpdir(), "serve-test-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [wrangler, log] = [join(root, "wrangler.mjs"), join(root, "log")];
  writeFileSync(wrangler, WRANGLER);
  writeFileSync(join(root, "plan.json"), JSON.stringify({ ...plan, log }));
  const worker = { what: "the dashboard", config: "x.toml", port: await testPort() };
  const outcome = await serve({ root, env: process.env, wrangler }, worker).catch((error) => error);
  const starts = existsSync(log) ? readFileSync(log, "utf8").split("start").length - 1 : 0;
  if (!(outcome instanceof Error)) await outcome.kill();
  return { outcome, starts };
}

const BUSY =
  "*** Uncaught exception ***\nworkerd/util/sqlite.c++:914: failed: SQLite failed; database is locked: SQLITE_BUSY";

test("a runtime that finds its files locked by another one is started again", async (t) => {
  const { outcome, starts } = await started(t, { fails: 2, says: BUSY });
  assert.ok(!(outcome instanceof Error), String(outcome));
  assert.equal(starts, 3);
});

test("the number of starts is limited, and the error is shown", async (t) => {
  const { outcome, starts } = await started(t, { fails: 100, says: BUSY });
  assert.match(
    outcome.message,
    /^the dashboard did not start: wrangler exited with 1\n.*SQLITE_BUSY/s,
  );
  assert.equal(starts, 5);
});

test("any other failure is shown at once", async (t) => {
  const { outcome, starts } = await started(t, { fails: 1, says: "no such file: x.toml" });
  assert.match(outcome.message, /no such file/);
  assert.equal(starts, 1);
});
