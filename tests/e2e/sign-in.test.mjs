/** Tests what a deploy of the dashboard does and says about the sign-in, against a stand-in for Cloudflare's API. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import test from "node:test";
import { Cloudflare } from "../../scripts/lib/cloudflare.mjs";
import { setUpSignIn } from "../../scripts/lib/sign-in.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { run, tools } from "./script.mjs";

const WORKER = "impact-pledge-dashboard-production";
const HOST = `${WORKER}.shop.workers.dev`;
const ADA = "ada@shop.example";
const OWN = { type: "worker", worker_id: `id-of-${WORKER}` };
const OTHERS = Array.from({ length: 100 }, (_, index) => ({ name: `other ${index}` })); // a page of them

/**
 * Sets up the sign-in of a dashboard whose Worker is deployed.
 * @param {import("node:test").TestContext} t
 * @param {{apps?: any[], bound?: object[], settings?: object, fault?: (asked: string) => any, deadline?: number}} [there]
 */
async function dashboard(t, { apps = [], bound = [], settings = {}, fault, deadline } = {}) {
  const { env, account } = await cloudflare(t, { fault });
  account.bindings.set(WORKER, bound);
  account.apps.push(...apps);
  const access = { deadline: deadline ?? 60_000 };
  const api = await Cloudflare.open({ ...tools, env: { ...tools.env, ...env } }, access);
  const config = /** @type {any} */ ({ name: WORKER, ...settings });
  return {
    account,
    setUp: async (/** @type {string | undefined} */ operator, typed = "") => {
      const to = { asked: "" };
      const terminal = /** @type {any} */ ({
        err: (text) => (to.asked += text),
        input: Object.assign(Readable.from([typed]), { isTTY: typed !== "" }),
      });
      const work = { environment: "production", operator, terminal };
      const said = await setUpSignIn(api, config, work);
      return to.asked + said;
    },
    made: () => account.asked.filter((asked) => /^(POST|PUT|PATCH|DELETE)/.test(asked)),
  };
}

const PUT = /^ {2}npx wrangler secret put OPERATORS .* --env "production"$/m;

test("a fresh dashboard is protected, and its first operator is named; a second run changes nothing", async (t) => {
  const { account, setUp, made } = await dashboard(t, { apps: OTHERS });
  const said = await setUp(ADA);
  const { id: _, ...app } = account.apps.at(-1);
  assert.deepEqual(app, {
    type: "self_hosted",
    name: WORKER,
    destinations: [OWN],
    policies: [{ decision: "allow", include: [{ email: { email: ADA } }] }],
  });
  assert.deepEqual([...account.secrets], [["OPERATORS", ADA]]);
  assert.match(said, /created the application .*It admits ada@shop\.example, at each address/);
  assert.match(said, new RegExp(`Open https://${HOST} and sign in`));
  assert.match(said, /^ada@shop\.example is the first operator/m);
  assert.doesNotMatch(said, PUT);
  assert.match(said, /secret put SUPPORT/);

  const [apps, before] = [structuredClone(account.apps), made()];
  const again = await setUp("eva@shop.example");
  assert.deepEqual([account.apps, made(), account.secrets.get("OPERATORS")], [apps, before, ADA]);
  assert.match(again, /It was not changed\. See that one of its policies admits eva@/);
  assert.match(again, /OPERATORS is set already, and was not changed\. If it lacks eva@/);
  assert.match(again, PUT);
  assert.doesNotMatch(await setUp(undefined), /OPERATORS|admits/);
  assert.deepEqual(made(), before);
});

test("an application that protects the dashboard is found, however it was set up", async (t) => {
  const domains = { routes: [{ pattern: "desk.example", custom_domain: true }, "x.example/*"] };
  const at = (uri) => ({ destinations: [{ type: "public", uri }] });
  for (const [app, isFound, settings] of /** @type {[object, boolean, object?][]} */ ([
    [{ destinations: [OWN] }, true],
    [{ destinations: [{ type: "all_workers" }] }, true],
    [{ destinations: [{ ...OWN, type: "preview_worker" }] }, false],
    [{ destinations: [{ ...OWN, worker_id: "id-of-another" }] }, false],
    [{ domain: HOST }, true],
    [{ domain: `${HOST}/*` }, true],
    [{ domain: "*.shop.workers.dev" }, true],
    [{ domain: `${HOST}/admin` }, false],
    [{ domain: `x${HOST}` }, false],
    [{ domain: `${HOST.slice(0, 9)}*${HOST.slice(8)}` }, false],
    [{ domain: HOST, type: "bookmark" }, false],
    [{ self_hosted_domains: ["a.example", HOST] }, true],
    [at(HOST), true],
    [at("desk.example"), false, domains],
    [at("desk.example"), true, { ...domains, workers_dev: false }],
    [{ domain: HOST, self_hosted_domains: ["desk.example"] }, true, domains],
    [{ domain: 1, self_hosted_domains: "x", destinations: [null, { uri: {} }] }, false],
  ])) {
    const apps = [...OTHERS, { type: "self_hosted", name: "Desk", ...app }];
    const { account, setUp } = await dashboard(t, { apps, settings });
    const said = await setUp(ADA);
    const about = JSON.stringify(app);
    assert.equal(account.apps.length, apps.length + Number(!isFound), about);
    assert.equal(/the application `Desk` .*protects the dashboard/.test(said), isFound, said);
  }
});

test("if the login may not set up Access, the deploy says the four steps, and names the operator", async (t) => {
  const fault = (asked) =>
    asked.includes("/access/") ? { status: 403, message: "Authentication error" } : undefined;
  const { account, setUp } = await dashboard(t, { fault });
  const said = await setUp(ADA);
  assert.match(said, /this login may not see or change Cloudflare Access: Authentication error\./);
  for (const step of [
    `  1. Open https://dash.cloudflare.com/${ACCOUNT}/workers-and-pages, the Worker ${WORKER},`,
    '  2. Select "Protect this Worker behind Access"',
    '"Email domain" with `shop.example`, the domain of ada@shop.example',
    `  4. Open https://${HOST} and sign in as ada@shop.example.`,
    "deploy -- --dashboard --env production --operator ada@shop.example",
  ])
    assert.ok(said.includes(step), `${step}: ${said}`);
  assert.deepEqual([...account.secrets], [["OPERATORS", ADA]]);
});

test("an answer of the API that is wrong, late or missing ends in the steps", async (t) => {
  const status = (path, fault) => (asked) => (asked.includes(path) ? fault : undefined);
  for (const [problem, there] of /** @type {[RegExp, object][]} */ ([
    [
      /the Worker's ID: status 404/,
      { fault: status("/workers/workers/", { status: 404, message: "no" }) },
    ],
    [/: no answer within 0\.3 s/, { fault: status("/access/", { delay: 2_000 }), deadline: 300 }],
    [/status 400; access\.not_enabled/, { fault: notEnabled }],
  ])) {
    const { account, setUp, made } = await dashboard(t, there);
    const said = await setUp(ADA);
    assert.match(said, problem);
    assert.match(said, /^ {2}4\. Open /m);
    assert.deepEqual([account.apps, account.secrets.get("OPERATORS")], [[], ADA]);
    assert.ok(made().filter((asked) => asked === "POST /access/apps").length <= 1);
  }
  const refused = { fault: status("/secrets", { status: 403, message: "no" }) };
  const said = await (await dashboard(t, refused)).setUp(ADA);
  assert.match(said, /created the application/);
  assert.match(said, PUT);
  assert.doesNotMatch(said, /is the first operator/);
});

const notEnabled = (asked) =>
  asked === "POST /access/apps" ? { status: 400, message: "access.not_enabled" } : undefined;

test("lists that are none, or never end, end in the steps", async (t) => {
  const { account, setUp } = await dashboard(t);
  for (const length of [Number.POSITIVE_INFINITY, undefined]) {
    account.apps.slice = () => (length ? [{}] : /** @type {any} */ ({}));
    account.apps.length = 4_000_000_000;
    assert.match(await setUp(ADA), /the answer is not a list that ends/);
  }
});

test("without an option, a terminal is asked for the first operator; nobody else is", async (t) => {
  const { account, setUp, made } = await dashboard(t);
  for (const [typed, problem] of [
    ["", /nobody is named who may sign in/],
    ["\n", /first operator.*nobody is named/s],
    ["ada\n", /`ada` is not an e-mail address.*No operator was set/s],
  ]) {
    const said = await setUp(undefined, /** @type {string} */ (typed));
    assert.match(said, /** @type {RegExp} */ (problem));
    assert.match(said, /"Email domain" with the domain of your e-mail addresses/);
  }
  assert.deepEqual(made(), []);
  assert.match(await setUp(undefined, ` ${ADA}\n`), /^E-mail address of the first operator/);
  assert.deepEqual([account.apps.length, account.secrets.get("OPERATORS")], [1, ADA]);
  assert.doesNotMatch(await setUp(undefined, `${ADA}\n`), /E-mail address/);
});

test("`--operator` is refused for a deploy without the dashboard", async () => {
  const { code, problem } = await run("deploy", ["--operator", ADA]);
  assert.equal(code, 1);
  assert.match(problem, /`--operator` is for the dashboard: add `--dashboard`/);
});
