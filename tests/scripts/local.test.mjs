/** Builds of `npm start` lie in a tree of their own, from which wrangler uploads nothing. */
import assert from "node:assert/strict";
import { relative } from "node:path";
import test from "node:test";
import { x } from "tinyexec";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { configuration } from "../../scripts/lib/configuration.mjs";
import { operatorTools } from "../../scripts/lib/places.mjs";
import { localConfig } from "../../scripts/lib/local.mjs";

const FILES = ["wrangler.dev.toml", "wrangler.dashboard.dev.toml"];

test("local configurations build and serve in build/local, and watch the clone", async () => {
  for (const file of FILES) {
    const [own, { build, main, ...local }] = await Promise.all(
      [file, localConfig({ root }, file)].map((each) => configuration(each)),
    );
    assert.match(relative(root, main ?? ""), /^build\/local\/www\/server\/\w+\.js$/);
    assert.equal(build.command, own.build.command?.replace(" build ", " build --local "));
    assert.deepEqual(build.watch_dir, own.build.watch_dir);
    assert.deepEqual(local.vars, own.vars);
  }
});

test("wrangler uploads no local build", async () => {
  const { env, wrangler } = operatorTools();
  for (const file of FILES) {
    const args = ["deploy", "--dry-run", "--config", localConfig({ root }, file)];
    const options = { nodeOptions: { cwd: root, env } };
    const { exitCode, stdout, stderr } = await x(process.execPath, [wrangler, ...args], options);
    assert.equal(exitCode, 1);
    assert.match(stdout + stderr, /`wrangler deploy` can't upload a build of `npm start`/);
  }
});
