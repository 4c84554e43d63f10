/**
 * Tests a full backup, an incremental backup, and a restore of both. The processes are killed (`kill -9`)
 * shortly after a call of Cloudflare's API. Set `KILL_RECORDS` and `KILLS` for a longer run.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { deployedLedger } from "../../e2e/cloudflare.mjs";
import { run, scratch, start } from "../../e2e/script.mjs";

const RECORDS = Number(process.env.KILL_RECORDS ?? 20_000);
const KILLS = Number(process.env.KILLS ?? 5);
const PAGE = 1_000; // names on a list page, as on Cloudflare
const MEGABYTES = 256; // the most JavaScript memory of a process, for any number of records
const AFTER_A_CALL_MS = 20;
const NEW = RECORDS / 10; // records that are added between the two backups
const TOMORROW = Math.round(Date.now() / 1000) + 86_400;

const SECRET = { name: "secret", value: JSON.stringify({ secret: "5e".repeat(32), version: 1 }) };

/** Returns a record. Half of the records are replay records, some have bytes that are not text, and some expire. */
function record(index, createdAt = "2026-01-01T00:00:00Z") {
  if (index === 0) return SECRET;
  const digits = String(index).padStart(64, "0");
  const isReplay = index % 2 === 0;
  const text = JSON.stringify({ reference: `order-${index}`, name: "Bäume 🌳\r\n", version: 1 });
  return {
    name: isReplay ? `idempotency:${digits}` : `transaction:${idOf(index)}`,
    value: index % 1_000 === 1 ? Buffer.from([0xff, 0x00, index % 256]) : text.padEnd(1_000, " "),
    metadata: isReplay ? undefined : metadataOf(index, createdAt),
    expiration: index % 7 === 0 ? TOMORROW : undefined,
  };
}

const idOf = (index) =>
  `ptran_${String(index)
    .padStart(41, "0")
    .replace(/\d/g, (digit) => "abcdefghij"[Number(digit)])}a`;

function metadataOf(index, createdAt) {
  const replay = String(index + 1).padStart(64, "0");
  const summary = {
    createdAt,
    amount: "1.00",
    currencyCode: "USD",
    quantities: [["tree", 1_000_000]],
  };
  return { version: 1, mode: "live", unit: `unit_${index % 7}`, summary: { ...summary, replay } };
}

/**
 * Runs a command again and again. Kills each process after a random number of calls of Cloudflare's API, at
 * most `calls` divided by the number of kills. Lets the last process finish.
 */
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

/** @param {any} account @param {any} record */
function keep({ namespaces: [{ records, extras }] }, { name, value, metadata, expiration }) {
  records.set(name, value);
  extras.set(name, { metadata, expiration });
}

test(`${RECORDS} records are as they were after two backups and a restore that were each killed ${KILLS} times`, async (t) => {
  const { kv, env, account } = await deployedLedger(t, { page: PAGE });
  for (let index = 0; index < RECORDS; index += 1) keep(account, record(index));
  const folder = scratch(t);
  const [full, increment] = ["full", "increment"].map((name) => join(folder, `${name}.jsonl`));
  const memory = { NODE_OPTIONS: `--max-old-space-size=${MEGABYTES}` };
  const there = { env: { ...env, ...memory }, account };
  const pages = RECORDS / PAGE;

  await untilItEnds(["backup", full], there, pages * 11); // one call for names, ten for values
  const now = new Date().toISOString();
  for (let index = RECORDS + 1; index < RECORDS + NEW; index += 1) {
    const { expiration: _, ...kept } = record(index, now); // transactions and replay records do not expire
    keep(account, kept);
  }
  account.fault = () => undefined;
  const { code, problem } = await run("ledger", ["check"], { kv });
  assert.equal(code, 0, problem);
  const { records, extras } = account.namespaces[0];
  const isKept = ([name]) => !/^(audit|backup)/.test(name);
  const parts = [records, extras].map((part) => ({
    part,
    before: new Map([...part].filter(isKept)),
  }));
  const values = (NEW / 100) * 2; // transactions are read twice, replay records once
  await untilItEnds(["backup", increment, "--since", full], there, 20 + values);
  for (const { part } of parts) part.clear();
  await untilItEnds(["restore", full, increment], there, pages);

  for (const { part, before } of parts) {
    const wrong = [...before].filter(([name, was]) => !isDeepStrictEqual(part.get(name), was));
    const restored = [...part].filter(isKept);
    assert.deepEqual([restored.length, wrong.slice(0, 3)], [before.size, []]);
  }
});
