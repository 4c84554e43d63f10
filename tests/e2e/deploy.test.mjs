/** Tests the files and settings that a deploy would upload. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { seedData } from "../../scripts/lib/seed.mjs";
import { Cloudflare } from "../../scripts/lib/cloudflare.mjs";
import { configuration } from "../../scripts/lib/configuration.mjs";
import { checkSettings, isSentOrigin } from "../../scripts/lib/deploy-settings.mjs";
import { leaveQueues } from "../../scripts/lib/service-account.mjs";
import { fixturesIn } from "../support/fixtures.mjs";
import { withMail, withMailAlone, withOrigins, withoutBuild } from "../support/wrangler.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { run, scratch, script, tools } from "./script.mjs";

const MOST_BYTES = 64 * 1024 * 1024; // Cloudflare's limit on all plans, before compression

/** Runs a dry-run deploy. Returns the files that it would upload, and its output. */
async function upload(t, ...options) {
  const folder = scratch(t);
  const args = ["--dry-run", "--outdir", folder, ...options];
  const { code, out, problem } = await script("deploy", args);
  assert.equal(code, 0, problem);
  const files = readdirSync(folder, { encoding: "utf8", recursive: true })
    .filter((name) => /\.(js|wasm|map)$/.test(name))
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
  return { printed: out + problem, files };
}

test("the service is built and uploaded with its bindings, and with nothing of local development", async (t) => {
  const config = ["--config", withOrigins(scratch(t))];
  const { printed, files } = await upload(t, "--env", "production", ...config);
  const account = "dry run of the upload: account .*";
  const place = "environment production, Worker impact-pledge-production";
  assert.match(printed, new RegExp(`^${account}, ${place}$`, "m"));
  assert.match(printed, /env\.PLEDGES\s+KV Namespace/);
  for (const binding of ["CF_VERSION_METADATA", "ALLOWED_ORIGINS", "LOG_PERCENT"])
    assert.match(printed, new RegExp(`env\\.${binding}\\b`));
  assert.match(printed, /env\.PUBLIC_ORIGIN \("https:\/\/production\.example"\)/);
  assert.match(printed, /env\.ENVIRONMENT \("production"\)/);
  assert.doesNotMatch(printed, /warning/i);

  const shipped = files.filter(({ name }) => !name.endsWith(".map"));
  assert.deepEqual(shipped.map(({ name }) => name.match(/\.\w+$/)[0]).sort(), [".js", ".wasm"]);
  const wasm = shipped.find(({ name }) => name.endsWith(".wasm")).bytes;
  const exports = WebAssembly.Module.exports(new WebAssembly.Module(wasm));
  assert.ok(exports.some(({ name }) => name === "fetch"));
  assert.ok(shipped.reduce((sum, { bytes }) => sum + bytes.length, 0) < MOST_BYTES);

  const textOf = ({ printed, files }) =>
    [printed, ...files.map(({ bytes }) => bytes.toString("latin1"))].join("\n");
  const production = textOf({ printed, files });
  for (const { key } of (await seedData(tools)).keys)
    assert.ok(!production.includes(key), `${key} must not be uploaded`);
  const origin = ["--var", "PUBLIC_ORIGIN:https://pledges.example"];
  const development = textOf(await upload(t, "--config", "www/wrangler.dev.toml", ...origin));
  for (const word of ["/shop/order", "Small Hours", "SHOP_API_KEY", "ASSETS", "HTMLRewriter"]) {
    assert.ok(development.includes(word), `${word} is of the shop, else nothing is looked for`);
    assert.ok(!production.includes(word), `${word} must not be deployed`);
  }
  assert.doesNotMatch(production, /assets/i);
});

/** Asserts that a deploy with these options is refused, with this message. */
async function refused(problem, ...args) {
  const ended = await run("deploy", ["--dry-run", ...args]);
  assert.deepEqual([ended.code, ended.out], [1, ""]);
  assert.match(ended.problem, problem);
}

test("production is not deployed without the origin that its timeline addresses permanently begin with", async (t) => {
  const production = ["--env", "production"];
  await refused(
    /`PUBLIC_ORIGIN` of the environment production is not set\..*permanently with the host that received its create request.*Set it in wrangler\.toml, under `\[env\.production\.vars\]`/,
    ...production,
  );
  const ready = ["--config", withOrigins(scratch(t))];
  const others = ["--var", "PUBLIC_ORIGIN:https://pledges.example"];
  const settings = await configuration(join(tools.root, "wrangler.toml"), "production");
  const [note] = checkSettings(settings, "production", others);
  assert.match(
    note,
    /holds for this deploy only: .*Set `PUBLIC_ORIGIN` in wrangler\.toml, under `\[env/,
  );
  await refused(/`ENVIRONMENT` is ``/, ...production, ...ready, "--var", "ENVIRONMENT:");
  await refused(
    /`ALLOW_PLAIN_HTTP` is set/,
    ...production,
    ...ready,
    "--var",
    "ALLOW_PLAIN_HTTP:true",
  );
  const config = join(scratch(t), "wrangler.toml");
  for (const [origin, problem = /is not an origin: `/] of [
    ["pledges.example"],
    ["https://"],
    ["https://a@b"],
    ["https://a/path"],
    ["https://a..b"],
    ["ftp://a"],
    ["http://pledges.example", /, but must begin with `https:\/\/`/],
    ["http://localhost:8787", /, but must begin with `https:\/\/`/],
  ]) {
    writeFileSync(config, `name = "x"\n[env.production.vars]\nPUBLIC_ORIGIN = "${origin}"\n`);
    await refused(problem, ...production, "--config", config);
  }
  writeFileSync(config, 'name = "x"\n[env.live.vars]\nENVIRONMENT = "production"\n');
  await refused(
    /`PUBLIC_ORIGIN` of the environment live is not set/,
    "--env",
    "live",
    "--config",
    config,
  );
});

test("after a failure of wrangler, the last line says what failed and what to do", async (t) => {
  const config = join(scratch(t), "wrangler.toml");
  writeFileSync(config, 'name = "x"\nmain = "missing.js"\ncompatibility_date = "2026-01-01"\n');
  const origin = ["--var", "PUBLIC_ORIGIN:https://pledges.example"];
  const { code, problem } = await script("deploy", ["--dry-run", "--config", config, ...origin]);
  assert.equal(code, 1);
  assert.match(
    problem,
    /missing\.js[\s\S]*\nwrangler did not upload the Worker x: its messages above say why\. Mend that, then run it again\n$/,
  );
});

test("an entry of ALLOWED_ORIGINS that no browser sends is refused, as the service refuses it", async () => {
  const { rows } = fixturesIn("texts").find(({ file }) => file === "allowed-origin.json");
  for (const { text, read } of rows) assert.equal(isSentOrigin(text), read === text, text);
  const listing = (list) => ["--env", "staging", "--var", `ALLOWED_ORIGINS:${list}`];
  for (const [list, named, meant = "https://shop.example"] of [
    ["https://shop.example, *", "*"],
    ["https://Shop.example:443/,https://b.example", "https://Shop.example:443"],
    ["https://b.example/checkout/", "https://b.example/checkout", "https://b.example"],
  ]) {
    const quoted = [named, meant].map((text) => `\`${text.replaceAll(/[.*]/g, "\\$&")}\``);
    await refused(new RegExp(`ALLOWED_ORIGINS.*${quoted.join(".*")}`), ...listing(list));
  }
});

test("settings of notifications that contradict each other are refused", async (t) => {
  const config = ["--config", withMailAlone(scratch(t))];
  const mail = ["--config", withMail(scratch(t)), "--env", "staging", "--var"];
  for (const [problem, ...args] of [
    [
      /`MAIL_FROM` is set, but the queue `NOTIFICATIONS` is not bound/,
      "--var",
      "MAIL_FROM:a@b.example",
    ],
    [/e-mails are queued, but `MAIL_FROM` is not set/, ...mail, "MAIL_FROM:"],
    [
      /`MESSAGING_SERVICE_A_URL` is set, but the queue `NOTIFICATIONS` is not bound/,
      "--var",
      "MESSAGING_SERVICE_A_URL:https://adapter.example/",
    ],
    [
      /`MESSAGING_SERVICE_B_TEST_URL` is not an https URL without a user name: `http:/,
      ...mail,
      "MESSAGING_SERVICE_B_TEST_URL:http://adapter.example/",
    ],
    [
      /`MAIL_FROM` is not an e-mail address: `Shop <a@b.example>`/,
      ...mail,
      "MAIL_FROM:Shop <a@b.example>",
    ],
    [/`MAIL_TEST_TO` is not an e-mail address: `ada`/, ...mail, "MAIL_TEST_TO:ada"],
    [
      /^stopped: `PUBLIC_ORIGIN` of the environment staging is not set/,
      ...config,
      "--env",
      "staging",
    ],
    [/^stopped: `PUBLIC_ORIGIN` is not set/, ...config],
  ]) {
    await refused(problem, ...args);
  }
});

test("a deploy finds the namespace and the queues of an earlier deploy that failed, or of a Worker that was deleted", async (t) => {
  const { env, account } = await cloudflare(t, { deployed: false });
  const worker = "impact-pledge-production";
  const queues = ["notifications", "notifications-dead", "ledger"].map(
    (name) => `${worker}-${name}`,
  );
  const others = Array.from({ length: 100 }, (_, index) => `other-${index}`); // a page of them
  for (const title of [...others, `${worker}-pledges`])
    account.namespaces.push({ id: `id-of-${title}`, title });
  for (const [index, queue_name] of queues.entries())
    account.queues.push({ queue_id: `queue-${index}`, queue_name, messages: [] });
  const deploy = async (config) => {
    account.bindings.clear();
    const args = ["--env", "production", "--config", config];
    const { code, out, problem } = await script("deploy", args, { env });
    assert.equal(code, 0, out + problem);
    assert.match(
      problem,
      /the account already has the KV namespace `impact-pledge-production-pledges`/,
    );
    const bound = account.bindings.get(worker).find(({ name }) => name === "PLEDGES");
    assert.equal(bound.namespace_id, `id-of-${worker}-pledges`);
    assert.equal(account.namespaces.length, others.length + 1);
    return problem;
  };
  const consumers = () =>
    account.queues.map(({ queue_name, consumer }) => [queue_name, consumer?.script]);

  await deploy(withMail(scratch(t)));
  const [mails, dead, ledger] = queues;
  assert.deepEqual(consumers(), [
    [mails, worker],
    [dead, worker],
    [ledger, undefined],
  ]);
  const said = await deploy(withOrigins(scratch(t), withoutBuild)); // without e-mails
  assert.match(said, /the queue `impact-pledge-production-notifications` no longer delivers/);
  assert.deepEqual(
    consumers(),
    queues.map((queue) => [queue, undefined]),
  );
});

test("if a token may not remove the Worker from a queue, the deploy says how to do it", async (t) => {
  const { env, account } = await cloudflare(t, {
    fault: (asked) => (asked.includes("/queues") ? { status: 403 } : undefined),
  });
  const there = await Cloudflare.open({ ...tools, env }, { deadline: 60_000 });
  const said = [];
  t.mock.method(process.stderr, "write", (text) => said.push(text) > 0);
  const service = { worker: "shop", bindings: [], settings: /** @type {any} */ ({ queues: {} }) };
  await leaveQueues(there, service);
  assert.deepEqual(said, [], "nothing was bound");
  const bindings = [{ type: "queue", name: "NOTIFICATIONS", queue_name: "mails" }];
  await leaveQueues(there, { ...service, bindings });
  assert.match(said.join(""), /^ {2}npx wrangler queues consumer remove mails shop$/m);
  const consumed = {
    queues: {
      consumers: ["mails", "shop-notifications", "shop-notifications-dead"].map((queue) => ({
        queue,
      })),
    },
  };
  account.asked.length = 0;
  await leaveQueues(there, { ...service, bindings, settings: /** @type {any} */ (consumed) });
  assert.deepEqual(account.asked, [], "a queue that is configured is not left");
});

test("the dashboard is bound to the resources of the deployed service, and its deploy says what is left to do", async (t) => {
  const { env, account } = await cloudflare(t);
  const args = ["--dashboard", "--env", "production"];
  const early = await script("deploy", args, { env });
  assert.match(early.problem, /no Worker `impact-pledge-production`: deploy it first/);
  assert.deepEqual([early.code, account.uploads], [1, []]);

  for (const queue_name of ["mails", "books"])
    account.queues.push({ queue_id: `id-of-${queue_name}`, queue_name, messages: [] });
  account.bindings.set("impact-pledge-production", [
    { type: "kv_namespace", name: "PLEDGES", namespace_id: "namespace-7" },
    { type: "queue", name: "LEDGER", queue_name: "books" },
    { type: "queue", name: "NOTIFICATIONS", queue_name: "mails" },
    { type: "plain_text", name: "PUBLIC_ORIGIN", text: "https://pledges.example" },
    { type: "send_email", name: "EMAIL" },
    { type: "plain_text", name: "MAIL_FROM", text: "pledges@shop.example" },
    { type: "service", name: "MESSAGING_SERVICE_A", service: "alerts" },
    { type: "plain_text", name: "MESSAGING_SERVICE_B_URL", text: "https://adapter.example/" },
    { type: "secret_text", name: "MESSAGING_SERVICE_B_SECRET" },
    { type: "plain_text", name: "MESSAGING_SERVICE_C_URL", text: "" },
  ]);
  const { code, out, problem } = await script("deploy", args, { env });
  assert.equal(code, 0, out + problem);
  const name = "impact-pledge-dashboard-production";
  assert.match(problem, new RegExp(`^deploying: account ${ACCOUNT}, .*, Worker ${name}$`, "m"));
  const [upload] = account.uploads;
  assert.equal(upload.name, name);
  assert.deepEqual(
    Object.fromEntries(upload.bindings.map(({ name, type: _, ...binding }) => [name, binding])),
    {
      PLEDGES: { namespace_id: "namespace-7" },
      SERVICE: { service: "impact-pledge-production" },
      NOTIFICATIONS: { queue_name: "mails" },
      LEDGER_DB: { id: account.databases[0].uuid },
      ENVIRONMENT: { text: "production" },
      SERVICE_ORIGIN: { text: "https://pledges.example" },
      MESSAGING_BINDINGS: {
        text: "MESSAGING_SERVICE_A, MESSAGING_SERVICE_B_SECRET, MESSAGING_SERVICE_B_URL",
      },
      EMAIL: {},
      MAIL_FROM: { text: "pledges@shop.example" },
      DASHBOARD_ORIGIN: { text: "" },
      CONTACT: { text: "" },
      BILLING_NAME: { text: "" },
      BILLING_ADDRESS: { text: "" },
      TAX_TEXT: { text: "" },
      BANK_DETAILS: { text: "" },
      UNUSUAL_CHARGE: { text: "" },
      BACKUP_FULL_DAYS: { text: "" },
      BACKUP_KEPT_DAYS: { text: "" },
      CF_VERSION_METADATA: {},
    },
  );
  for (const list of ["OPERATORS", "SUPPORT", "ACCOUNTS"])
    assert.match(out, new RegExp(`wrangler secret put ${list} .* --env "production"$`, "m"));
  assert.match(
    out,
    /^Could not confirm that Cloudflare Access protects the dashboard: nobody is named/m,
  );
});
