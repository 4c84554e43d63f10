/** The files and settings that a deploy would upload. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { seedData } from "../../scripts/lib/seed.mjs";
import { withMail } from "../support/wrangler.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { run, scratch, script, tools } from "./script.mjs";

const FREE_PLAN_BYTES = 3 * 1024 * 1024; // Cloudflare's limit, compressed

/** Everything that a deploy would upload, and what is printed of it. */
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

test("the service is built and uploaded alone, with its bindings and nothing of development", async (t) => {
  const origin = ["--var", "PUBLIC_ORIGIN:https://pledges.example"];
  const { printed, files } = await upload(t, "--env", "production", ...origin);
  const account = "dry run of the upload: account .*";
  const place = "environment production, Worker impact-pledge-production";
  assert.match(printed, new RegExp(`^${account}, ${place}$`, "m"));
  assert.match(printed, /env\.PLEDGES\s+KV Namespace/);
  for (const binding of ["CF_VERSION_METADATA", "ALLOWED_ORIGINS", "LOG_PERCENT", "PUBLIC_ORIGIN"])
    assert.match(printed, new RegExp(`env\\.${binding}\\b`));
  assert.doesNotMatch(printed, /warning/i);

  const shipped = files.filter(({ name }) => !name.endsWith(".map"));
  assert.deepEqual(shipped.map(({ name }) => name.match(/\.\w+$/)[0]).sort(), [".js", ".wasm"]);
  const wasm = shipped.find(({ name }) => name.endsWith(".wasm")).bytes;
  const exports = WebAssembly.Module.exports(new WebAssembly.Module(wasm));
  assert.ok(exports.some(({ name }) => name === "fetch"));
  assert.ok(shipped.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0) < FREE_PLAN_BYTES);

  const textOf = ({ printed, files }) =>
    [printed, ...files.map(({ bytes }) => bytes.toString("latin1"))].join("\n");
  const production = textOf({ printed, files });
  for (const { key } of (await seedData(tools)).keys)
    assert.ok(!production.includes(key), `${key} must not be uploaded`);
  const development = textOf(await upload(t, "--config", "wrangler.dev.toml", ...origin));
  for (const word of ["/shop/order", "Small Hours", "SHOP_API_KEY", "ASSETS", "HTMLRewriter"]) {
    assert.ok(development.includes(word), `${word} is of the shop, else nothing is looked for`);
    assert.ok(!production.includes(word), `${word} must not be deployed`);
  }
  assert.doesNotMatch(production, /assets/i);
});

test("production is not deployed without the origin that its timeline addresses begin with for good", async (t) => {
  const refused = async (problem, ...args) => {
    const ended = await run("deploy", ["--env", "production", "--dry-run", ...args]);
    assert.deepEqual([ended.code, ended.out], [1, ""]);
    assert.match(ended.problem, problem);
    assert.match(ended.problem, /the host that its create was sent to, for good.*wrangler\.toml/s);
  };
  await refused(/`PUBLIC_ORIGIN` of the environment production is not set/);
  const folder = scratch(t);
  const config = join(folder, "wrangler.toml");
  for (const origin of [
    "pledges.example",
    "https://",
    "https://a@b",
    "https://a/path",
    "https://a..b",
    "ftp://a",
  ]) {
    await refused(/is not an origin: `/, "--var", "LOG_PERCENT:1", `PUBLIC_ORIGIN:${origin}`);
    writeFileSync(config, `name = "x"\n[env.production.vars]\nPUBLIC_ORIGIN = "${origin}"\n`);
    await refused(/is not an origin: `/, "--config", config);
  }
});

test("settings of e-mails that contradict each other are refused", async (t) => {
  const config = ["--config", withMail(scratch(t))];
  const origin = "PUBLIC_ORIGIN:https://pledges.example";
  const mail = [...config, "--env", "staging", "--var", origin];
  for (const [problem, ...args] of [
    [
      /`MAIL_FROM` is set, and the queue `NOTIFICATIONS` is not bound/,
      "--var",
      "MAIL_FROM:a@b.example",
    ],
    [/e-mails are queued, and `MAIL_FROM` is not set/, ...mail, "MAIL_FROM:"],
    [
      /`MAIL_FROM` is no e-mail address: `Shop <a@b.example>`/,
      ...mail,
      "MAIL_FROM:Shop <a@b.example>",
    ],
    [/`MAIL_TEST_TO` is no e-mail address: `ada`/, ...mail, "MAIL_TEST_TO:ada"],
    [
      /^stopped: `PUBLIC_ORIGIN` of the environment staging is not set/,
      ...config,
      "--env",
      "staging",
    ],
    [/^stopped: `PUBLIC_ORIGIN` is not set/, ...config],
  ]) {
    const ended = await run("deploy", ["--dry-run", ...args]);
    assert.deepEqual([ended.code, ended.out], [1, ""]);
    assert.match(ended.problem, problem);
  }
});

test("the dashboard is bound to what the deployed service has, and says what is left to do", async (t) => {
  const { env, account } = await cloudflare(t);
  const args = ["--dashboard", "--env", "production"];
  const early = await script("deploy", args, { env });
  assert.match(early.problem, /no Worker `impact-pledge-production`: deploy it first/);
  assert.deepEqual([early.code, account.uploads], [1, []]);

  account.queues.push({ queue_id: "queue-1", queue_name: "mails", messages: [] });
  account.bindings.set("impact-pledge-production", [
    { type: "kv_namespace", name: "PLEDGES", namespace_id: "namespace-7" },
    { type: "queue", name: "NOTIFICATIONS", queue_name: "mails" },
    { type: "plain_text", name: "PUBLIC_ORIGIN", text: "https://pledges.example" },
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
      NOTIFICATIONS: { queue_name: "mails" },
      ENVIRONMENT: { text: "production" },
      SERVICE_ORIGIN: { text: "https://pledges.example" },
      CF_VERSION_METADATA: {},
    },
  );
  for (const list of ["OPERATORS", "SUPPORT", "ACCOUNTS"])
    assert.match(out, new RegExp(`wrangler secret put ${list} .* --env "production"$`, "m"));
  assert.match(out, new RegExp(`Workers & Pages, ${name}, .*enable Cloudflare Access`));
});
