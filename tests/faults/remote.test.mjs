/** `npm run prove -- --remote` on a stand-in of Cloudflare's API, with both Workers on this machine. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { Server, bundle } from "../../bench/service/workerd.mjs";
import { cloudflare } from "../e2e/cloudflare.mjs";
import { scratch, script, start, tools } from "../e2e/script.mjs";
import { FaultyKv } from "./kv.mjs";
import { violations } from "./oracle.mjs";
import { NAMESPACE, WORKERS, playRemote } from "./remote.mjs";

const REGIONS = ["aws:us-east-1", "aws:eu-central-1"];
const PLAN = {
  requests: 300,
  connections: 16,
  seed: 1,
  regions: REGIONS,
  everywhereMs: 1_500,
  signal: AbortSignal.timeout(120_000),
};

/** The account, and the shipped Worker twice over a KV that has what the account's namespace has. */
async function place(t, options) {
  const { env, account } = await cloudflare(t, { deployed: false, ...options });
  const kv = await FaultyKv.start({ also: account.records });
  t.after(() => kv.close());
  const made = await bundle(tools, {
    main: join(tools.root, "build", "worker.js"),
    folder: join(scratch(t), "workerd"),
    kv: kv.address,
  });
  const servers = [await Server.start(tools, made), await Server.start(tools, made)];
  for (const server of servers) t.after(() => server.end());
  const originOf = (origin) =>
    servers[WORKERS.findIndex((name) => origin === `https://${name}.shop.workers.dev`)].origin;
  return { account, originOf, tools: { ...tools, env: { ...tools.env, ...env } } };
}

/** What is still in the account. */
const left = ({ workers, namespaces }) => [...workers, ...namespaces.map(({ title }) => title)];

test("two Workers in two regions share a namespace; nothing is lost or doubled; all of it is deleted", async (t) => {
  const { tools, account, originOf } = await place(t);
  const history = await playRemote(tools, { ...PLAN, originOf });
  assert.deepEqual(violations(history), []);
  assert.ok(
    history.exchanges.filter(({ ask, outcome }) => ask.calm && outcome.status === 200).length > 100,
  );
  assert.ok(history.seenMs.length > 0 && history.seenMs.every((ms) => ms < Infinity));
  assert.deepEqual(
    account.uploads.map(({ name, placement }) => [name, placement]),
    WORKERS.map((name, index) => [name, { mode: "targeted", region: REGIONS[index] }]),
  );
  for (const { bindings } of account.uploads)
    assert.deepEqual(bindings, [
      { name: "PLEDGES", type: "kv_namespace", namespace_id: "namespace-1" },
    ]);
  assert.deepEqual(left(account), []);

  const [first, ...rest] = history.writes;
  const rules = (writes) => violations({ ...history, writes }).map(({ rule }) => rule);
  assert.ok(rules(rest).includes("what is acknowledged can be read in the end, with its content"));
  assert.ok(
    rules([...history.writes, { ...first, name: "transaction:ptran_second" }]).some((rule) =>
      rule.startsWith("one create has one record"),
    ),
  );
});

test("where a step fails, what was made is deleted, and what can't be deleted is named", async (t) => {
  const { tools, account, originOf } = await place(t, {
    refused: /^PUT .*\/bulk$|^DELETE .*\/namespace-1$/,
  });
  const failure = await playRemote(tools, { ...PLAN, originOf }).catch(({ message }) => message);
  assert.match(
    failure,
    /Cloudflare's API can't write records: status 404[\s\S]*by hand:\nnpx wrangler kv namespace delete --namespace-id namespace-1/,
  );
  assert.deepEqual(
    account.uploads.map(({ name }) => name),
    WORKERS,
  );
  assert.deepEqual(left(account), [NAMESPACE]);
});

test("Ctrl-C ends it, and what was made is deleted", async (t) => {
  const { env, account } = await cloudflare(t, { deployed: false });
  const child = start("prove", ["--remote", "--yes"], { env });
  child.stderr.on("data", () => /deploying.*\n$/.test(child.problem()) && child.kill("SIGINT"));
  const { code, problem } = await child.done;
  assert.equal(code, 1, problem);
  assert.match(problem, /deleting what was made\nstopped: ended by SIGINT/);
  assert.ok(account.asked.some((asked) => asked.startsWith("POST /storage/kv/namespaces")));
  assert.deepEqual(left(account), []);
});

test("nothing is made without `--yes`, which is asked for with the cost", async (t) => {
  const { env, account } = await cloudflare(t, { deployed: false });
  const { code, problem } = await script("prove", ["--remote"], { env });
  assert.equal(code, 1);
  for (const text of [NAMESPACE, ...WORKERS, ...REGIONS, "1,000", "--requests", "--yes"])
    assert.ok(problem.includes(text), `${text} in ${problem}`);
  assert.deepEqual(account.asked, []);
});
