/** Tests when `npm ci` is needed. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { nodeIsNewEnough, packagesReady } from "../../scripts/lib/bootstrap.mjs";

const A = { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } };
const B = { "node_modules/b": { version: "2.0.0", integrity: "sha512-b" } };
const OTHER_SYSTEM = {
  "node_modules/c": { version: "3.0.0", integrity: "sha512-c", optional: true },
};

const rows = [
  ["the same packages", { ...A, ...B }, { ...A, ...B }, true],
  ["an optional package of another system is missing", { ...A, ...OTHER_SYSTEM }, A, true],
  ["a package is missing", { ...A, ...B }, A, false],
  [
    "a package with other content",
    A,
    { "node_modules/a": { version: "1.0.0", integrity: "sha512-x" } },
    false,
  ],
  ["one package too many", A, { ...A, ...B }, false],
  ["an interrupted install has written no list", A, null, false],
];

for (const [name, wanted, installed, ready] of rows) {
  test(`${name}: ${ready ? "ready" : "not ready"}`, (t) => {
    const root = mkdtempSync(join(tmpdir(), "packages-test-"));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    mkdirSync(join(root, "node_modules"));
    writeFileSync(
      join(root, "package-lock.json"),
      JSON.stringify({ packages: { "": { name: "root" }, ...wanted } }),
    );
    if (installed)
      writeFileSync(
        join(root, "node_modules", ".package-lock.json"),
        JSON.stringify({ packages: installed }),
      );
    assert.equal(packagesReady(root), ready);
  });
}

for (const [version, enough] of [
  ["v20.20.2", false],
  ["v22.17.1", false],
  ["v22.18.0", true],
  ["v24.0.0", true],
]) {
  test(`Node ${version} is ${enough ? "new enough" : "too old"}`, () =>
    assert.equal(nodeIsNewEnough(version), enough));
}
