/** What a deploy would upload. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { seedData } from "../../scripts/lib/seed.mjs";
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
