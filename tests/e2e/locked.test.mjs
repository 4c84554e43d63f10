/**
 * Tests that a command tries again if another program, such as `npm start`, has locked a database of the local
 * state. In each test, the lock ends at the first failed attempt.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { localLedger } from "../../scripts/lib/ledger.mjs";
import { LocalPort, startOnce, startRuntime } from "../../scripts/lib/runtime.mjs";
import { scratch, tools } from "./script.mjs";

const DEADLINE = 60_000;

/**
 * Locks the databases of a local state whose paths match. Returns a function that unlocks them.
 * @param {{isWhole?: boolean}} [how] `isWhole`: also blocks reads by other programs, as a runtime that is ending does
 */
function lock(state, pattern, { isWhole = false } = {}) {
  const paths = readdirSync(state, { recursive: true }).map(String);
  const files = paths.filter((path) => path.endsWith(".sqlite") && pattern.test(path));
  assert.ok(files.length > 0);
  const databases = files.map((file) => new DatabaseSync(join(state, file)));
  for (const database of databases) {
    if (isWhole) database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("BEGIN EXCLUSIVE");
  }
  return () => {
    for (const database of databases.splice(0)) database.close();
  };
}

/** Wraps a function. Calls `unlock` when the function fails for the first time, and notes each failure. */
const noting =
  (failures, unlock, act) =>
  (...args) =>
    act(...args).catch((error) => {
      failures.push(error.message);
      unlock();
      throw error;
    });

test("calls of a locked database are repeated", async (t) => {
  const folder = scratch(t);
  const runtime = await startRuntime(folder, DEADLINE);
  t.after(runtime.close);
  const [failures, locks] = [[], []];
  const unlock = () => {
    for (const end of locks.splice(0)) end();
  };
  const noted = { ...runtime, ask: noting(failures, unlock, runtime.ask) };
  const [kv, ledger] = [new LocalPort(noted), localLedger(tools, { folder, runtime: noted })];
  await kv.write([{ key: "a", value: "1" }]);
  await ledger.ready();
  const [records, rows] = [/kv\/.*[0-9a-f]{64}/, /d1\/.*[0-9a-f]{64}/];
  for (const [pattern, act, expected] of [
    [records, () => kv.write([{ key: "b", value: "2" }]), undefined],
    [records, async () => (await kv.list("")).names.map(({ name }) => name), ["a", "b"]],
    [rows, () => ledger.run([{ sql: "DELETE FROM epoch", parameter: "null" }]), [[]]],
  ]) {
    locks.push(lock(folder, pattern));
    const answer = await act();
    assert.deepEqual(answer, expected);
    assert.equal(failures.splice(0).length, 1, String(pattern));
  }
});

for (const pattern of [/kv\/.*metadata/, /kv\/.*[0-9a-f]{64}/])
  test(`a start is repeated while another runtime locks ${pattern}`, async (t) => {
    const folder = scratch(t);
    await (await startRuntime(folder, DEADLINE)).close();
    const failures = [];
    const unlock = lock(folder, pattern, { isWhole: true });
    t.after(unlock);
    const runtime = await startRuntime(folder, DEADLINE, noting(failures, unlock, startOnce));
    await runtime.close();
    assert.equal(failures.length, 1);
  });
