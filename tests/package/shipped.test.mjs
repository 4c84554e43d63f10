/** What is inside of what ships: each part with its licence, and in the bill of materials; nothing of the building machine. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { checkSbom, sbom } from "../../scripts/lib/sbom.mjs";
import {
  bundledParts,
  checkLicences,
  licenceTexts,
  linkedParts,
} from "../../scripts/lib/licences.mjs";
import { version } from "../../scripts/lib/version.mjs";
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
  for (const name of ["serde", "sha2", "std", "wasm-bindgen"])
    assert.ok(names(client).includes(name), name);
});

test("a bill of materials has every part once, with hash, licence and what it calls, and is the same each time", async () => {
  const whole = {
    name: "impact-pledge",
    version: version(root),
    license: "MIT",
    purl: `pkg:npm/impact-pledge@${version(root)}`,
    repository: "https://example.org/it",
  };
  const text = await sbom(whole, inPackage);
  assert.equal(text, await sbom(whole, inPackage.toReversed()));
  const { components, dependencies, metadata } = JSON.parse(text);
  assert.equal(metadata.component.purl, whole.purl);
  assert.deepEqual(
    components.map(({ purl }) => purl).sort(),
    inPackage.map(({ purl }) => purl).sort(),
  );
  assert.equal(new Set(components.map((each) => each["bom-ref"])).size, components.length);
  for (const { name, hashes, licenses } of components)
    assert.ok(licenses.length === 1 && (hashes || ["std", "jsonc-parser"].includes(name)), name);
  const called = (ref) => dependencies.find((each) => each.ref.startsWith(ref)).dependsOn;
  assert.equal(called(whole.purl).length, components.length);
  assert.ok(called("pkg:cargo/hmac@").some((ref) => ref.startsWith("pkg:cargo/digest@")));
});

test("a text that is not CycloneDX is refused", async () => {
  const text = await sbom(
    {
      name: "x",
      version: "1.0.0",
      license: "MIT",
      purl: "pkg:npm/x@1.0.0",
      repository: "https://example.org",
    },
    client,
  );
  await checkSbom(text);
  for (const [right, wrong] of [
    ['"type": "library"', '"type": "plant"'],
    ['"alg": "SHA-256"', '"alg": "SHA"'],
    ['"name": "x",', ""],
  ]) {
    assert.ok(text.includes(right));
    await assert.rejects(checkSbom(text.replace(right, wrong)), { message: /is not CycloneDX/ });
  }
});

test("the package has the licences of all its parts, with their texts", () => {
  const text = readFileSync(join(home, "THIRD-PARTY-LICENSES.txt"), "utf8");
  assert.equal(text, licenceTexts(root, inPackage));
  for (const { name, version, license } of inPackage.filter(({ name }) => name !== "std"))
    assert.ok(text.includes(`\n${name} ${version} (${license})\n`), name);
  for (const part of [
    "the Rust standard library",
    "Copyright (c) Microsoft",
    "UNICODE LICENSE V3",
    "Apache License",
    "Redistribution and use in source and binary forms",
  ])
    assert.ok(text.includes(part), part);
  assert.equal(JSON.parse(readFileSync(join(home, "package.json"), "utf8")).version, version(root));
});

test("a new licence is refused until somebody allows it", () => {
  checkLicences(inPackage);
  const part = (license) => [{ name: "new", version: "1.0.0", license }];
  for (const license of ["MIT", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"])
    checkLicences(part(license));
  for (const license of [
    "GPL-3.0-only",
    "MIT AND GPL-2.0-only",
    "MPL-2.0",
    "NOASSERTION",
    "SEE LICENSE IN x",
    "",
    undefined,
  ])
    assert.throws(() => checkLicences(part(license)), { message: /new 1\.0\.0 \(/ });
});
