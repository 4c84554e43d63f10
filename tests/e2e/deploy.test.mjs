/** The files and settings that a deploy would upload. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { seedData } from "../../scripts/lib/seed.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { scratch, script, tools } from "./script.mjs";

const FREE_PLAN_BYTES = 3 * 1024 * 1024; // Cloudflare's limit, compressed

test("a dry run of the deploy builds the service and uploads it alone", async (t) => {
  const folder = scratch(t);
  const { code, out, problem } = await script("deploy", ["--dry-run", "--outdir", folder]);
  assert.equal(code, 0, problem);
  assert.match(out, /env\.PLEDGES\s+KV Namespace/);
  assert.match(out, /env\.ALLOWED_ORIGINS/);
  assert.doesNotMatch(out + problem, /\[WARNING\]|warning/i);

  const files = readdirSync(folder).filter((name) => /\.(js|wasm)$/.test(name));
  assert.deepEqual(files.map((name) => name.match(/\.\w+$/)[0]).sort(), [".js", ".wasm"]);
  const contents = files.map((name) => readFileSync(join(folder, name)));
  const wasm = contents.find((bytes) => bytes.subarray(0, 4).toString("latin1") === "\0asm");
  assert.ok(
    WebAssembly.Module.exports(new WebAssembly.Module(wasm)).some(({ name }) => name === "fetch"),
  );
  assert.ok(contents.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0) < FREE_PLAN_BYTES);

  const { keys } = await seedData(tools);
  for (const { key } of keys)
    assert.ok(
      contents.every((bytes) => !bytes.includes(key)),
      `${key} must not be uploaded`,
    );
});

/** Words of the shop's server, its pages and its binding: each would give it away in an upload. */
const OF_THE_SHOP = ["/shop/order", "Small Hours", "SHOP_API_KEY", "ASSETS", "HTMLRewriter"];

/** Everything that a deploy by this configuration would upload, and what wrangler says of it. */
async function upload(t, ...options) {
  const folder = scratch(t);
  const { code, out, problem } = await script("deploy", [
    "--dry-run",
    "--outdir",
    folder,
    ...options,
  ]);
  assert.equal(code, 0, problem);
  const files = readdirSync(folder, { recursive: true }).filter((name) =>
    /\.(js|wasm|map)$/.test(name),
  );
  return [out, ...files.map((name) => readFileSync(join(folder, name), "latin1"))].join("\n");
}

for (const environment of ["staging", "production"]) {
  test(`a dry run for ${environment} names its Worker, and has what the top level has`, async () => {
    const { code, out, problem } = await script("deploy", ["--env", environment, "--dry-run"]);
    assert.equal(code, 0, problem);
    assert.match(
      problem,
      new RegExp(
        `^dry run of the upload: account .*, environment ${environment}, Worker impact-pledge-${environment}$`,
        "m",
      ),
    );
    for (const binding of [
      "PLEDGES",
      "CF_VERSION_METADATA",
      "ALLOWED_ORIGINS",
      "LOG_PERCENT",
      "PUBLIC_ORIGIN",
    ])
      assert.match(out, new RegExp(`env\\.${binding}\\b`));
    assert.doesNotMatch(out + problem, /\[WARNING\]|warning/i);
  });
}

test("no word of the demo shop is deployed", async (t) => {
  const production = await upload(t);
  const development = await upload(t, "--config", "wrangler.dev.toml");
  for (const word of OF_THE_SHOP) {
    assert.ok(
      development.includes(word),
      `${word} must be in the shop's own upload, else this test looks for nothing`,
    );
    assert.ok(!production.includes(word), `${word} must not be deployed`);
  }
  assert.doesNotMatch(production, /assets/i);
});

test("an account is all that a deploy needs: it makes the namespace once, and keys go there", async (t) => {
  const { env, account } = await cloudflare(t, { deployed: false });
  const before = readFileSync(join(tools.root, "wrangler.toml"));
  for (const deploy of ["first", "second"]) {
    const { code, out, problem } = await script("deploy", [], { env });
    assert.equal(code, 0, `${deploy}: ${out}${problem}`);
  }
  assert.deepEqual(
    account.namespaces.map(({ title }) => title),
    ["impact-pledge-pledges"],
  );
  assert.deepEqual(
    account.bindings.get("impact-pledge").find(({ name }) => name === "PLEDGES"),
    { name: "PLEDGES", type: "kv_namespace", namespace_id: "namespace-1" },
  );
  assert.equal(account.uploads.length, 2);
  for (const { modules, observability } of account.uploads) {
    assert.deepEqual(modules.map((name) => name.match(/\.\w+$/)[0]).sort(), [
      ".js",
      ".map",
      ".wasm",
    ]);
    assert.deepEqual(observability, {
      enabled: true,
      redact_query_string: true,
      logs: { invocation_logs: false },
      traces: { enabled: false },
    });
  }
  assert.deepEqual(readFileSync(join(tools.root, "wrangler.toml")), before);

  const made = await script("keys", ["create", "--mode", "live", "--unit", "unit_1", "--remote"], {
    env,
  });
  assert.equal(made.code, 0, made.problem);
  assert.equal(account.records.size, 2); // the secret, too
});

test("staging and production are Workers of their own, each with its namespace, keys and prices", async (t) => {
  const { env, account } = await cloudflare(t, { deployed: false });
  const prices = join(scratch(t), "prices.json");
  writeFileSync(prices, '{ "currencyCode": "EUR", "unitPrices": { "tree": "0.50" } }');
  for (const [index, environment] of ["staging", "production"].entries()) {
    const at = ["--env", environment];
    const place = {
      kind: "cloudflare",
      account: ACCOUNT,
      environment,
      worker: `impact-pledge-${environment}`,
      namespace: `namespace-${index + 1}`,
    };
    const early = await script("keys", ["list", "--remote", ...at, "--json"], { env });
    assert.match(
      JSON.parse(early.out).error.message,
      new RegExp(
        `^the account ${ACCOUNT} has no Worker \`impact-pledge-${environment}\`: deploy it first`,
      ),
    );
    const deployed = await script("deploy", at, { env });
    assert.equal(deployed.code, 0, deployed.out + deployed.problem);
    assert.doesNotMatch(deployed.out + deployed.problem, /warning/i);
    assert.match(
      deployed.problem,
      new RegExp(
        `^deploying: account ${ACCOUNT}, environment ${environment}, Worker impact-pledge-${environment}$`,
        "m",
      ),
    );
    const made = await script(
      "keys",
      ["create", "--mode", "live", "--unit", environment, "--remote", ...at, "--json"],
      { env },
    );
    assert.deepEqual(JSON.parse(made.out).place, place);
    const set = await script("catalogue", ["set", prices, "--mode", "live", "--remote", ...at], {
      env,
    });
    assert.match(
      set.out,
      new RegExp(
        `^account ${ACCOUNT}, environment ${environment}, Worker impact-pledge-${environment}, namespace namespace-${index + 1}\n`,
      ),
    );
  }
  assert.deepEqual(
    account.namespaces.map(({ title, records }) => [title, records.size]),
    [
      ["impact-pledge-staging-pledges", 3],
      ["impact-pledge-production-pledges", 3],
    ],
  );
});

test("the environments that a configuration lacks are no guess", async (t) => {
  const { env, account } = await cloudflare(t);
  for (const [name, ...args] of [["deploy"], ["keys", "list", "--remote"]]) {
    const { code, problem } = await script(name, [...args, "--env", "prod"], { env });
    assert.equal(code, 1);
    assert.equal(
      problem,
      "stopped: there is no environment `prod`: wrangler.toml has staging, production\n",
    );
  }
  assert.deepEqual(account.asked, []);
});
