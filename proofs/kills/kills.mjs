/**
 * A backup and a restore by processes that are killed (`kill -9`) shortly after a call of Cloudflare's API. `KILL_RECORDS` and
 * `KILLS` choose a longer run.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { cloudflare } from "../../tests/e2e/cloudflare.mjs";
import { scratch, start } from "../../tests/e2e/script.mjs";

const RECORDS = Number(process.env.KILL_RECORDS ?? 20_000);
const KILLS = Number(process.env.KILLS ?? 5);
const PAGE = 1_000; // names in one page of a list, as Cloudflare has it
const MEGABYTES = 256; // of JavaScript's memory that a process may have, however many the records
const AFTER_A_CALL_MS = 20;
const TOMORROW = Math.round(Date.now() / 1000) + 86_400;

const SECRET = { name: "secret", value: JSON.stringify({ secret: "5e".repeat(32), version: 1 }) };

/** Half are replay records, some have bytes that are no text, some end. */
function record(index) {
  if (index === 0) return SECRET;
  const digits = String(index).padStart(24, "0");
  const isReplay = index % 2 === 0;
  const text = JSON.stringify({ reference: `order-${index}`, name: "Bäume 🌳\r\n", version: 1 });
  return {
    name: isReplay ? `idempotency:${digits}` : `transaction:ptran_${digits}`,
    value: index % 1_000 === 1 ? Buffer.from([0xff, 0x00, index % 256]) : text.padEnd(1_000, " "),
    metadata: isReplay ? undefined : { version: 1, mode: "live", unit: `unit_${index % 7}` },
    expiration: index % 7 === 0 ? TOMORROW : undefined,
  };
}

/** Runs a command whose processes are killed, each within its share of the calls, until one may end. */
async function untilItEnds(args, { env, account }, calls) {
  for (let run = 0; run <= KILLS; run += 1) {
    const child = start("transactions", [...args, "--remote", "--json"], { env });
    child.stdin.end();
    let left = run < KILLS ? 1 + Math.floor((Math.random() * calls) / KILLS) : -1;
    account.fault = () => {
      left -= 1;
      if (left === 0) sleep(Math.random() * AFTER_A_CALL_MS).then(() => child.kill("SIGKILL"));
    };
    const { code, problem } = await child.done;
    assert.equal(code, run < KILLS ? "SIGKILL" : 0, problem);
  }
}

test(`${RECORDS} records are as they were after a backup and a restore that were each killed ${KILLS} times`, async (t) => {
  const { env, account } = await cloudflare(t, { page: PAGE });
  const { records, extras } = account.namespaces[0];
  for (let index = 0; index < RECORDS; index += 1) {
    const { name, value, metadata, expiration } = record(index);
    records.set(name, value);
    extras.set(name, { metadata, expiration });
  }
  const parts = [records, extras].map((part) => ({ part, before: new Map(part) }));
  const file = join(scratch(t), "killed.jsonl");
  const memory = { NODE_OPTIONS: `--max-old-space-size=${MEGABYTES}` };
  const there = { env: { ...env, ...memory }, account };
  const pages = RECORDS / PAGE;

  await untilItEnds(["backup", file], there, pages * 11); // one call for names, ten for values
  for (const { part } of parts) part.clear();
  await untilItEnds(["restore", file], there, pages);

  for (const { part, before } of parts) {
    const wrong = [...before].filter(([name, was]) => !isDeepStrictEqual(part.get(name), was));
    const restored = [...part.keys()].filter((name) => !name.startsWith("audit:"));
    assert.deepEqual([restored.length, wrong.slice(0, 3)], [before.size, []]);
  }
});
