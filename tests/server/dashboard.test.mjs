/**
 * Tests the dashboard's Worker and the service's Worker on one namespace: who has access, what forms do, and
 * what happens if the platform fails.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { seedData } from "../../scripts/lib/seed.mjs";
import { MIGRATIONS, tools } from "../e2e/script.mjs";
import { send } from "../e2e/worker.mjs";
import { startDashboard } from "./dashboard-worker.mjs";

const OPERATOR = "operator@small-hours.example";
const SUPPORT = "support@small-hours.example";
const ACCOUNTS = "accounts@small-hours.example";
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const FAST = { "x-speed": "50" }; // a deadline of 5 s ends after 100 ms

let dashboard, harness, origin;
before(async () => {
  dashboard = await startDashboard({
    main: join("tests", "server", "dashboard-stand-ins.mjs"),
    email: OPERATOR.toUpperCase(),
    vars: { OPERATORS: OPERATOR, SUPPORT, ACCOUNTS },
    others: [{ configPath: join(tools.root, "wrangler.toml") }],
  });
  ({ harness, origin } = dashboard);
  for (const { key, value, metadata } of (await seedData(tools)).entries)
    await dashboard.kv.put(key, value, { metadata });
});
after(() => dashboard?.close());

const page = (path, headers = {}) => send(origin, { method: "GET", path, headers });
const post = (path, fields, headers = {}) =>
  send(origin, {
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: `${new URLSearchParams(fields)}`,
  });
const logs = () => harness.getLogs().map(({ message }) => message);

/** Asserts that an answer is a page of the dashboard, and that no cache may store it. */
function shows(answer, status, text) {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.text, text);
  assert.match(answer.headers["content-type"], /^text\/html/);
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.match(answer.headers["content-security-policy"], /^default-src 'none'/);
}

test("the ledger's tables exist", async () => {
  const { results } = await dashboard.db.prepare("SELECT name FROM d1_migrations").all();
  assert.deepEqual(
    results.map(({ name }) => name),
    MIGRATIONS,
  );
});

test("a person is identified by Access, in upper or lower case", async () => {
  const answer = await page("/prices");
  shows(answer, 200, new RegExp(OPERATOR, "i"));
  assert.match(answer.text, /class="band production"/);
});

const REFUSED = /Access denied/;
for (const [access, status, text] of [
  ["is not there", 403, /This Worker has no sign-in/],
  ["knows a service token", 403, /without an e-mail address/],
  ["knows null", 403, /without an e-mail address/],
  ["knows no address", 403, /without an e-mail address/],
  ["knows an empty address", 403, /without an e-mail address/],
  ["knows a number", 403, /without an e-mail address/],
  ["throws", 503, /did not identify you in time/],
  ["refuses", 503, /did not identify you in time/],
  ["hangs", 503, /did not identify you in time/],
  ["has an address that throws", 503, /did not identify you in time/],
  ["answers without a promise", 200, new RegExp(SUPPORT)],
  [SUPPORT, 200, new RegExp(SUPPORT)],
  [ACCOUNTS, 403, REFUSED],
  ["nobody@example.org", 403, REFUSED],
])
  test(`Access ${access}: ${status} for the page of failed e-mails`, async () =>
    shows(await page("/mails", { "x-access": access, ...FAST }), status, text));

test("only forms of our own pages are accepted", async () => {
  const find = (headers) => post("/find", { text: "unit_dev" }, headers);
  const others = ["same-site", "cross-site", "none"].map((site) => ({ "sec-fetch-site": site }));
  for (const headers of [
    {},
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin, "sec-fetch-site": "cross-site" },
    ...others,
  ])
    shows(await find(headers), 403, /not sent by a page of this dashboard/);
  for (const headers of [{ origin }, SAME_ORIGIN, { ...SAME_ORIGIN, origin: "null" }]) {
    const { status, headers: answered } = await find(headers);
    assert.equal(status, 303);
    assert.match(answered.location, /^\/find\?q=[\w-]+$/);
    assert.equal(answered["cache-control"], "no-store");
    shows(await page(answered.location), 200, /The unit .*unit_dev/);
    shows(await page(answered.location), 200, /The unit .*unit_dev/);
  }
});

test("a key created by the form works at the service, and is shown only once", async () => {
  const { text } = await page("/units/unit_dev");
  const [, operation] = text.match(/name="operation" value="([^"]+)"/) ?? [];
  const fields = { operation, unit: "unit_dev", mode: "test", label: "canary" };
  const made = await post("/keys", fields, SAME_ORIGIN);
  shows(made, 200, /only time/);
  const [key] = made.text.match(/service_sk_test_\w{20,}/) ?? [];
  assert.deepEqual([await served(key), await served(`${key}1`)], [404, 401]);
  assert.ok(!(await page("/units/unit_dev")).text.includes(key));
  assert.ok(logs().includes('{"waitUntil":"/keys"}'), "it is carried out if the person leaves");
  const secrets = [key, "canary", "unit_dev", OPERATOR, "small-hours"];
  const lines = logs().filter((line) => line.startsWith("{") && !line.includes('"request"')); // lines with "request" are the service's
  assert.ok(lines.some((line) => line.startsWith('{"route":"POST /keys","status":200,')));
  for (const line of lines) for (const secret of secrets) assert.ok(!line.includes(secret), line);
});

/**
 * Sends a get request with this API key, for a transaction that does not exist. Returns the status of the
 * service's answer.
 */
async function served(key) {
  const path = "https://service.example/v2/pledge-transaction/ptran_aaaa";
  const headers = { authorization: `Bearer ${key}` };
  return (await harness.getWorker("impact-pledge").fetch(path, { headers })).status;
}

test("values that are too large for one call are read one by one", async () => {
  const [whole, single] = [
    await page("/audit"),
    await page("/audit", { "x-kv": "takes no 100 names" }),
  ];
  shows(single, 200, /created the key/);
  assert.equal(single.text, whole.text);
});

for (const kv of ["throws", "hangs"])
  test(`KV ${kv}: the page shows that it failed, and how`, async () => {
    shows(await page("/prices", { "x-kv": kv, ...FAST }), 503, /Workers KV did not answer in time/);
    const cause = kv === "throws" ? "Error: at once" : "no answer in 5000 ms";
    assert.ok(logs().some((line) => line.includes(`"cause":"${cause}"`)));
  });

test("an answer from a broken instance says what may have been done, and the next instance serves", async () => {
  const broken = await page("/prices", { "x-break": "1" });
  assert.equal(broken.status, 500);
  assert.match(broken.text, /^Something went wrong on our side\. Your change may have been saved/);
  assert.equal(broken.headers["cache-control"], "no-store");
  assert.equal(broken.headers["x-content-type-options"], "nosniff");
  shows(await page("/prices"), 200, /Prices/);
});
