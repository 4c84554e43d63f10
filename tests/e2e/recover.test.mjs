/** Tests the steps of docs/recover.md on a stand-in for Cloudflare's API, from an account's loss to a deleted database. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { openKv } from "../../scripts/lib/kv.mjs";
import { withDashboard, withOrigins, withoutBuild } from "../support/wrangler.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { ENTRIES, LIVE_ID, REGISTERED } from "./operator.mjs";
import { contents, run, scratch, script, tools } from "./script.mjs";

const ENVIRONMENT = ["--env", "staging"];
const OWN_TABLES = ["accepted_tasks", "credit_limits", "credits", "fulfilments", "notes", "people"];

/** Returns an account to which both Workers are deployed, and functions that run commands on it. */
async function account(t) {
  const { env, account: there } = await cloudflare(t, { deployed: false, page: 100 });
  const deploy = async (config, ...options) => {
    const args = [...ENVIRONMENT, "--config", config, ...options];
    const { code, out, problem } = await script("deploy", args, { env });
    assert.equal(code, 0, out + problem);
  };
  const dashboard = () => deploy(withDashboard(scratch(t)), "--dashboard");
  await deploy(withOrigins(scratch(t), withoutBuild));
  await dashboard();
  const place = { ...tools, env: { ...tools.env, ...env } };
  const open = () => openKv(place, { remote: true, environment: "staging", deadline: 60_000 });
  const command = async (code, name, ...args) => {
    const asked = [...args, "--remote", ...ENVIRONMENT, "--json"];
    const ended = await run(name, asked, { env });
    assert.equal(ended.code, code, ended.problem);
    return ended;
  };
  const json = async (...args) => JSON.parse((await command(0, ...args)).out);
  const rows = () => {
    const { sqlite } = there.databases[0];
    const count = (table) => sqlite.prepare(`SELECT count(*) AS count FROM ${table}`).get().count;
    return Object.fromEntries(OWN_TABLES.map((table) => [table, count(table)]));
  };
  return { there, kv: await open(), dashboard, command, json, rows };
}

/** Returns the records that a restore brings back, except those for which the target has its own. */
async function restorable(kv) {
  const all = Object.entries(await contents(kv));
  const isOwn = /^(?:audit:|backup|epoch$)/;
  return Object.fromEntries(all.filter(([name]) => !isOwn.test(name)));
}

/** Fills an account with records, and with rows that only the ledger has. */
async function fill({ kv, json }) {
  await kv.write([...ENTRIES, ...REGISTERED]);
  await json("ledger", "check");
  const by = ["--by", "ada", "--yes"];
  await json("credits", "add", LIVE_ID, "--amount", "0.50", "--reason", "Returned", ...by);
  await json("fulfilments", "add", "2026-01", "tree", "1", "--done-on", "2026-01-20", ...by);
  await json("people", "add", "eva@shop.example", "--unit", "unit_dev", "--role", "viewer", ...by);
  await json(
    "credits",
    "limit",
    "--unit",
    "unit_dev",
    "--per-order",
    "5.00",
    "--per-month",
    "50.00",
    "--by",
    "ada",
  );
  await json("transactions", "note", LIVE_ID, "--text", "Called back", "--by", "ada");
  await json("tasks", "accept", "idle", "--reason", "A new shop", ...by);
  await json("teams", "add", "crew", "unit_dev", "--new", ...by);
}

test("one command restores everything into an empty account, and rows into a database that was deleted", async (t) => {
  const first = await account(t);
  await fill(first);
  const file = join(scratch(t), "full.jsonl");
  await first.json("transactions", "backup", file);
  const [records, rows] = [await restorable(first.kv), first.rows()];
  assert.deepEqual(rows, Object.fromEntries(OWN_TABLES.map((table) => [table, 1])));

  // The account is lost.
  const second = await account(t);
  const restored = await second.json("transactions", "restore", file, "--with-keys", "--yes");
  assert.ok(restored.completeUpTo && !restored.ledger.isLost);
  assert.deepEqual([await restorable(second.kv), second.rows()], [records, rows]);
  assert.deepEqual((await second.json("ledger", "status")).findings, []);

  // Something changes after the backup, and the database is deleted.
  const by = ["--by", "bob", "--yes"];
  await second.json("teams", "add", "crew", "unit_dev_two", ...by);
  await second.json("teams", "remove", "crew", "unit_dev", ...by);
  second.there.databases.pop();
  await second.dashboard();
  const { out } = await second.command(1, "ledger", "status");
  assert.match(JSON.parse(out).problem, /has lost people, credits, fulfilments or updates/);
  await second.command(1, "credits", "list", LIVE_ID);
  const only = ["transactions", "restore", file, "--only", "ledger", "--with-keys", "--yes"];
  assert.equal((await second.json(...only)).ledger.rows.people.written, 1);
  assert.deepEqual(second.rows(), rows);
  const { problem, findings } = await second.json("ledger", "status");
  assert.equal(problem, null);
  assert.deepEqual(
    findings.map(({ kind, name, detail }) => [kind, name, detail]),
    [
      ["copy", "member:crew:unit_dev", "removed by bob"],
      ["copy", "member:crew:unit_dev_two", "by bob"],
    ],
  );
  assert.deepEqual((await second.json("teams", "show", "crew")).units, ["unit_dev_two"]);
});

test("a restore leaves what was removed since the backup, unless it overwrites", async (t) => {
  const { kv, json, ...rest } = await account(t);
  await fill({ kv, json });
  const file = join(scratch(t), "full.jsonl");
  await json("transactions", "backup", file);
  const [name, by] = ["member:crew:unit_dev", ["--by", "bob", "--yes"]];
  const before = await kv.get(name);
  await json("teams", "remove", "crew", "unit_dev", ...by);
  const removed = await kv.get(name);
  assert.equal(JSON.parse(removed ?? "").removed, true);
  await rest.command(0, "transactions", "restore", file, "--with-keys", "--yes");
  assert.equal(await kv.get(name), removed);
  await rest.command(0, "transactions", "restore", file, "--with-keys", "--overwrite", "--yes");
  assert.equal(await kv.get(name), before, "until the cron writes the ledger's newer row again");
});
