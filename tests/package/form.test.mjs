/** `impact-pledge/form` as installed: the rows that the Rust side runs, its size, and what a server reads with it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { packed } from "./packed.mjs";

const MOST_BYTES = 15_000; // brotli, the rules included
const project = await packed();
const { readForm } = await project.load("impact-pledge/form");
const file = join(import.meta.dirname, "..", "fixtures", "form", "controls.json");
const { rows, amounts } = JSON.parse(readFileSync(file, "utf8"));

for (const { name, controls, payload, json, problems } of rows) {
  test(`rows: ${name}`, () => {
    const unseen = new Set(controls.filter(([, , hidden]) => hidden).map(([name]) => name));
    const found = readForm(controls, { hidden: (name) => unseen.has(name) });
    assert.deepEqual(found.payload, payload ?? JSON.parse(json));
    assert.equal(found.valid, problems.length === 0);
    const named = problems.map(([control, pointer, code]) => ({ name: control === null ? null : controls[control][0], pointer, code }));
    assert.deepEqual(found.issues.map(({ name, pointer, code }) => ({ name, pointer, code })), named);
  });
}

test("amounts as people type them", () => {
  assert.ok(amounts.length > 30);
  for (const [typed, json] of amounts) {
    const { payload } = readForm([["pledges.0.impact.amount", typed]]);
    assert.deepEqual(payload, { pledges: [{ impact: { amount: JSON.parse(json) } }] }, typed);
  }
});

test("posted data is read from FormData and URLSearchParams, and files are passed over", () => {
  const data = new FormData();
  data.append("recipient.email", "ada@");
  data.append("notifications", "Email");
  data.append("notifications", new Blob(["x"]), "x.txt");
  for (const posted of [data, new URLSearchParams("recipient.email=ada%40&notifications=Email")]) {
    const { payload, issues } = readForm(posted);
    assert.deepEqual(payload, { recipient: { email: "ada@" }, notifications: ["Email"] });
    assert.deepEqual(issues.map(({ path, code, name, message }) => [path, code, name, message])[1], [["recipient", "email"], "invalid_email", "recipient.email", "must be an e-mail address such as `ada@example.org`"]);
  }
});

test("NUL, which HTML has not, separates nothing", () => {
  const { payload } = readForm([["reference", "a\0recipient.email\0b"]]);
  assert.deepEqual(payload, { reference: "a\uFFFDrecipient.email\uFFFDb" });
});

test("a form of 100,000 fields is read, and the next one after it", () => {
  const many = Array.from({ length: 50_000 }, (_, index) => [[`pledges.${index}.impact.amount`, "x"], ["notifications", `${index}`]]).flat();
  const { payload, issues } = readForm(many);
  assert.equal(payload.pledges.length, 50_000);
  assert.equal(issues.length, 150_003);
  assert.deepEqual(readForm([["reference", "r"]]).payload, { reference: "r" });
});

test("CommonJS has the same", () => {
  const { readForm, bindForm } = project.require("impact-pledge/form");
  assert.deepEqual(readForm([["reference", "r"]]).payload, { reference: "r" });
  assert.throws(() => bindForm(null), { name: "TypeError", message: "`bindForm` takes a form element" });
});

test(`a page downloads no more than ${MOST_BYTES} bytes for a form, the rules included`, async (t) => {
  const stdin = { contents: 'export * from "impact-pledge/form"', resolveDir: project.folder };
  const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: "esm", platform: "browser", write: false });
  const { length } = brotliCompressSync(outputFiles[0].contents);
  t.diagnostic(`${length} bytes`);
  assert.ok(length <= MOST_BYTES, `${length} bytes`);
});
