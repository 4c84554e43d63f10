/** Tests the commands' access to Workers KV: local KV, and Cloudflare's API, also while it fails. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { Kv, openKv } from "../../scripts/lib/kv.mjs";
import { ACCOUNT, cloudflare, deployedKv } from "./cloudflare.mjs";
import { localKv, run, scratch, tools } from "./script.mjs";

const local = async (t) => ({ kv: await localKv(t) });

const inAnHour = Math.round(Date.now() / 1000) + 3_600;
const ENTRIES = Array.from({ length: 205 }, (_, number) => ({
  key: `transaction:${String(number).padStart(3, "0")}`,
  value: `Grüße ${number}`,
  metadata: { unit: `u${number}` },
  ...(number % 2 ? { expiration: inAnHour } : {}),
}));

for (const [name, open] of Object.entries({ local, deployed: deployedKv })) {
  test(`${name}: values, metadata and expiry are written, listed in pages, read in order and removed`, async (t) => {
    const { kv } = await open(t);
    await kv.write(ENTRIES);
    await kv.write([{ key: "key:1", value: "{}", expirationTtl: 60 }]);
    const listed = await Array.fromAsync(kv.list("transaction:"));
    assert.deepEqual(
      listed.map(({ name, metadata, expiration }) => ({ name, metadata, expiration })),
      ENTRIES.map(({ key, metadata, expiration }) => ({ name: key, metadata, expiration })),
    );
    const names = async function* () {
      for (const { key } of ENTRIES) yield key;
      yield "transaction:none";
    };
    const read = await Array.fromAsync(kv.read(names()));
    assert.deepEqual(read, [
      ...ENTRIES.map(({ key, value, metadata }) => ({ name: key, value, metadata })),
      { name: "transaction:none", value: null, metadata: null },
    ]);
    assert.deepEqual([await kv.get("key:1"), await kv.get("key:2")], ["{}", null]);
    await kv.remove(ENTRIES.slice(1).map(({ key }) => key));
    assert.deepEqual(await Array.fromAsync(kv.names()), ["key:1", "transaction:000"]);
    await assert.rejects(kv.write([{ key: "key:3", value: "", expirationTtl: 59 }]), /can't write/);
    const twice = Array.from({ length: 100 }, (_, number) => [
      { key: `twice:${number}`, value: "earlier".repeat(10_000) },
      { key: `twice:${number}`, value: "later" },
    ]).flat();
    await kv.write(twice);
    for await (const { value } of kv.read(kv.names("twice:"))) assert.equal(value, "later");
  });
}

test("the commands use the same version of miniflare for local KV as wrangler", () => {
  const versionOf = (name, from) =>
    JSON.parse(readFileSync(createRequire(from).resolve(`${name}/package.json`), "utf8"));
  const ours = versionOf("miniflare", join(tools.root, "scripts", "lib", "kv.mjs"));
  assert.equal(ours.version, versionOf("miniflare", tools.wrangler).version);
});

test("local: several commands at once create a new folder", async (t) => {
  const persistTo = scratch(t);
  const all = Array.from({ length: 5 }, async (_, number) => {
    const kv = await openKv(tools, { persistTo });
    t.after(() => kv.close());
    await kv.write([{ key: `a:${number}`, value: "x" }]);
    return kv;
  });
  const [kv] = await Promise.all(all);
  assert.equal((await Array.fromAsync(kv.names("a:"))).length, 5);
});

test("local: values that are too large for one call are read in several calls", async (t) => {
  const { kv } = await local(t);
  const names = Array.from({ length: 12 }, (_, number) => `a:${10 + number}`);
  await kv.write(names.map((key) => ({ key, value: key.repeat(700_000) })));
  const read = await Array.fromAsync(kv.read(names));
  assert.deepEqual(
    read.map(({ name, value }) => [name, value.slice(0, 4), value.length]),
    names.map((name) => [name, name, 2_800_000]),
  );
});

// ---- Cloudflare's API ----------------------------------------------------------------------------

test("a list continues at a page's cursor, and fetches each page only when it is read", async (t) => {
  const { kv, account } = await deployedKv(t);
  for (const number of [1, 2, 3]) account.records.set(`a:${number}`, "");
  const namesOf = ({ names }) => names.map(({ name }) => name);
  const first = await kv.page("a:");
  assert.deepEqual([namesOf(first), account.asked.length], [["a:1", "a:2"], 1]);
  const last = await kv.page("a:", first.cursor);
  assert.deepEqual([namesOf(last), last.cursor], [["a:3"], null]);
});

test("a list whose cursor leads back to the same page fails", async () => {
  const port = { list: async () => ({ names: [], cursor: "same" }) };
  const kv = new Kv({ kind: "local", folder: "" }, port);
  await assert.rejects(Array.fromAsync(kv.list()), /the same page repeatedly/);
});

test("records are written in calls of at most 1,000 records and 20 MB, and are read from their source only as needed", async (t) => {
  const { kv, account } = await deployedKv(t);
  let [made, most] = [0, 0];
  const entries = function* () {
    for (; made < 2_500; made += 1) {
      most = Math.max(most, made - account.records.size);
      yield { key: `a:${made}`, value: "x" };
    }
  };
  await kv.write(entries());
  assert.deepEqual([account.records.size, account.asked.length], [2_500, 3]);
  assert.ok(most <= 1_001, `${most} were held at once`);
  const large = { value: "x".repeat(3_000_000) };
  await kv.write(Array.from({ length: 8 }, (_, number) => ({ key: `b:${number}`, ...large })));
  assert.deepEqual([account.records.size, account.asked.length], [2_508, 5]);
});

test("records that one call can't read are read in several calls, and failed writes are retried once", async (t) => {
  const { kv, account } = await deployedKv(t, {
    fault: (asked, { asked: all }) =>
      asked.endsWith("/bulk/get") && all.length <= 3 ? { status: 413 } : undefined,
  });
  const names = Array.from({ length: 8 }, (_, number) => `a:${number}`);
  for (const name of names) account.records.set(name, name);
  const read = await Array.fromAsync(kv.read(names));
  assert.deepEqual(
    read.map(({ value }) => value),
    names,
  );
  account.asked.length = 0;
  account.failing = ["b:2"];
  await kv.write(["b:1", "b:2"].map((key) => ({ key, value: "" })));
  assert.deepEqual([account.records.has("b:2"), account.asked.length], [true, 2]);
});

const again = { "retry-after": "0" };
const TOKEN =
  "the token needs the permissions `Workers KV Storage: Edit` and `Workers Scripts: Read`. It also needs `Queues: Edit` to resend e-mails, `D1: Edit` for the ledger, and `Workers R2 Storage: Edit` for pictures";

/**
 * The cases by name. Each has the faults of Cloudflare's API, the number of requests that the list command
 * makes, and the error message of the command (null if the command succeeds).
 */
const FAULTS = {
  "a pause that the API asks for is kept": [
    [
      { status: 429, headers: again },
      { status: 503, headers: again },
    ],
    3,
    null,
  ],
  "what may pass is tried three times": [
    Array(9).fill({ status: 500, headers: again, message: "internal" }),
    3,
    "status 500; internal [10000]",
  ],
  "what does not pass is tried once": [
    Array(9).fill({ status: 403, message: "no" }),
    1,
    `status 403; no [10000]; ${TOKEN}`,
  ],
  "an answer that does not come is not waited for": [
    Array(9).fill({ delay: 600_000 }),
    3,
    "no answer within 1 s",
  ],
};

test("calls that fail", { concurrency: true }, async (t) => {
  const tests = Object.entries(FAULTS).map(([name, [faults, asks, problem]]) =>
    t.test(name, async (t) => {
      const { kv, account } = await deployedKv(t, { deadline: 1_000 });
      account.fault = () => faults[account.asked.length - 1];
      const listed = Array.fromAsync(kv.list());
      if (problem === null) assert.deepEqual(await listed, []);
      else
        await assert.rejects(listed, { message: `Cloudflare's API can't list names: ${problem}` });
      assert.equal(account.asked.length, asks);
    }),
  );
  await Promise.all(tests);
});

// ---- Accounts, Workers and tokens ----------------------------------------------------------------

const NO_TOKEN = { CLOUDFLARE_API_TOKEN: "", CLOUDFLARE_ACCOUNT_ID: "" };
const NOT_DEPLOYED =
  /^the account account-1 has no Worker `impact-pledge`: deploy it first \(Cloudflare's API can't show the Worker .*: status 404; This does not exist on your account\. \[10007\]\)$/;
const NO_LOGIN =
  /^not logged in to Cloudflare: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID$/;

/**
 * The cases by name. Each has the expected error message, and the arguments and environment variables that the
 * command gets in addition. The command also gets the variables that the stand-in for Cloudflare needs.
 */
const UNREACHABLE = {
  "a Worker that is not deployed": [NOT_DEPLOYED],
  "an environment that the configuration lacks": [
    /^wrangler\.toml has no environment `prod`\. Its environments: staging, production$/,
    ["--env", "prod"],
  ],
  "a token of another account": [
    new RegExp(`status 403; Authentication error \\[10000\\]; ${TOKEN}$`),
    [],
    { CLOUDFLARE_API_TOKEN: "token-of-another" },
  ],
  "an address where nobody answers": [
    /no connection \(.+\)$/,
    [],
    { CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1" },
  ],
  "no login": [NO_LOGIN, [], NO_TOKEN],
};

test("an error that an account can't be reached is one line, and never shows the token", async (t) => {
  for (const [name, [message, args = [], more = {}]] of Object.entries(UNREACHABLE))
    await t.test(name, async (t) => {
      const { env } = await cloudflare(t, { deployed: false });
      const home = scratch(t);
      const { code, out, problem } = await run("keys", ["list", "--remote", "--json", ...args], {
        env: { ...env, HOME: home, XDG_CONFIG_HOME: home, ...more },
      });
      assert.equal(code, 1);
      assert.match(JSON.parse(out).error.message, message);
      assert.equal(problem, `stopped: ${JSON.parse(out).error.message}\n`);
      assert.ok(!problem.includes("token-"));
    });
});

test("the only account of a login need not be named, and `wrangler login` needs no token", async (t) => {
  const home = scratch(t);
  mkdirSync(join(home, ".wrangler", "config"), { recursive: true });
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  writeFileSync(
    join(home, ".wrangler", "config", "default.toml"),
    `oauth_token = "token-1"\nexpiration_time = "${expires}"\nrefresh_token = "r"\nscopes = ["account:read"]\n`,
  );
  const more = { HOME: home, XDG_CONFIG_HOME: join(home, "none"), ...NO_TOKEN };
  const { kv } = await deployedKv(t, { more });
  assert.deepEqual(kv.place, {
    kind: "cloudflare",
    account: ACCOUNT,
    environment: null,
    worker: "impact-pledge",
    namespace: "namespace-1",
  });
});

test("the person is identified by the login, or by the ID of a token that may not read more", async (t) => {
  const { kv, account } = await deployedKv(t);
  assert.equal(await kv.user(), "ada@example.org");
  account.fault = (asked) => (asked.endsWith("/user") ? { status: 403 } : undefined);
  assert.equal(await kv.user(), "token 0a1b");
  account.fault = (asked) => (asked.includes("/user") ? { status: 403 } : undefined);
  await assert.rejects(kv.user(), /does not say who you are: give your name with `--by`$/);
});
