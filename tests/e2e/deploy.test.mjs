/** What a deploy would upload. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { seedData } from "../../scripts/lib/seed.mjs";
import { cloudflare } from "./cloudflare.mjs";
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
  assert.ok(WebAssembly.Module.exports(new WebAssembly.Module(wasm)).some(({ name }) => name === "fetch"));
  assert.ok(contents.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0) < FREE_PLAN_BYTES);

  const { keys } = await seedData(tools);
  for (const { key } of keys) assert.ok(contents.every((bytes) => !bytes.includes(key)), `${key} must not be uploaded`);
});

/** Words of the shop's server, its pages and its binding: each would give it away in an upload. */
const OF_THE_SHOP = ["/shop/order", "Small Hours", "SHOP_API_KEY", "ASSETS", "HTMLRewriter"];

/** Everything that a deploy by this configuration would upload, and what wrangler says of it. */
async function upload(t, ...options) {
  const folder = scratch(t);
  const { code, out, problem } = await script("deploy", ["--dry-run", "--outdir", folder, ...options]);
  assert.equal(code, 0, problem);
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(js|wasm|map)$/.test(name));
  return [out, ...files.map((name) => readFileSync(join(folder, name), "latin1"))].join("\n");
}

test("no word of the demo shop is deployed", async (t) => {
  const production = await upload(t);
  const development = await upload(t, "--config", "wrangler.dev.toml");
  for (const word of OF_THE_SHOP) {
    assert.ok(development.includes(word), `${word} must be in the shop's own upload, else this test looks for nothing`);
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
  assert.deepEqual(account.namespaces.map(({ title }) => title), ["impact-pledge-pledges"]);
  assert.deepEqual(account.bindings.find(({ name }) => name === "PLEDGES"), { name: "PLEDGES", type: "kv_namespace", namespace_id: "namespace-1" });
  assert.equal(account.uploads.length, 2);
  for (const { modules, observability } of account.uploads) {
    assert.deepEqual(modules.map((name) => name.match(/\.\w+$/)[0]).sort(), [".js", ".map", ".wasm"]);
    assert.deepEqual(observability, { enabled: true, redact_query_string: true, logs: { invocation_logs: false }, traces: { enabled: false } });
  }
  assert.deepEqual(readFileSync(join(tools.root, "wrangler.toml")), before);

  const made = await script("keys", ["create", "--mode", "live", "--unit", "unit_1", "--remote"], { env });
  assert.equal(made.code, 0, made.problem);
  assert.equal(account.records.size, 1);
});
