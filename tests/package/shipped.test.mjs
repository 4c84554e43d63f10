/**
 * The contents of the package: each part has its licence, and nothing shows the building machine.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { bundledParts, licenceTexts, linkedParts } from "../../scripts/lib/licences.mjs";
import { packed } from "./packed.mjs";

const tools = await prepareTools();
const { root } = tools;
const home = join((await packed()).folder, "node_modules", "impact-pledge");
const [client, server, both] = await Promise.all(
  ["client", "server", "client,server"].map((features) => linkedParts(tools, features)),
);
const inPackage = [...both, ...bundledParts(root, home)];
const names = (parts) => parts.map(({ name }) => name);
const filesOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
const workerFiles = ["impact_pledge_bg.wasm", "impact_pledge.js", "worker.js", "recover.js"].map(
  (name) => join(root, "build", name),
);

/** The crates that panic messages of the Worker name: its wasm alone keeps them. */
const crates = new Set(
  [
    ...readFileSync(workerFiles[0], "latin1").matchAll(
      /\/crates\/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)\//g,
    ),
  ].map(([, name, version]) => `${name} ${version}`),
);

test("no file that ships names a folder of this machine", () => {
  const folders = [root, homedir(), "/.cargo/", "/registry/src/", "/target/wasm"];
  for (const file of [...workerFiles, ...filesOf(home)])
    for (const folder of folders)
      assert.ok(!readFileSync(file, "latin1").includes(folder), `${file} has \`${folder}\``);
});

test("the crates that the Worker's wasm names are among its parts, in these versions", () => {
  assert.ok(crates.size >= 10, `${[...crates]}`);
  const known = new Set(server.map(({ name, version }) => `${name} ${version}`));
  assert.deepEqual(
    [...crates].filter((crate) => !known.has(crate)),
    [],
  );
});

test("parts are what is linked or bundled, without tools and macros, and those of the entry alone", () => {
  const tools = [
    "maud_macros",
    "proc-macro2",
    "proptest",
    "quote",
    "serde_derive",
    "strum_macros",
    "syn",
    "wasm-bindgen-macro",
    "wasm-bindgen-test",
  ];
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  for (const tool of tools)
    assert.ok(lock.includes(`name = "${tool}"\n`), `${tool} is not used any more`);
  assert.deepEqual(
    names(inPackage).filter((name) => tools.includes(name)),
    [],
  );
  assert.ok(names(server).includes("worker") && !names(client).includes("worker"));
  assert.deepEqual(names(bundledParts(root, home)), ["jsonc-parser"]);
  for (const name of ["serde", "sha2", "the Rust standard library", "wasm-bindgen"])
    assert.ok(names(client).includes(name), name);
});

test("the package has the licences of all its parts, with their texts", () => {
  const text = readFileSync(join(home, "THIRD-PARTY-LICENSES.txt"), "utf8");
  assert.equal(text, licenceTexts(root, inPackage));
  for (const { name, version, license } of inPackage)
    assert.ok(text.includes(`\n${version ? `${name} ${version}` : name} (${license})\n`), name);
  for (const part of [
    "Copyright (c) Microsoft",
    "UNICODE LICENSE V3",
    "Apache License",
    "Redistribution and use in source and binary forms",
  ])
    assert.ok(text.includes(part), part);
});
