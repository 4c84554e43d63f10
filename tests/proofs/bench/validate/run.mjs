/**
 * One run of `bench:validate`: measures times in Node and Chromium, bytes, and start-up, each in separate processes.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { FLAGS } from "../../../../scripts/setup/browser.mjs";
import { log } from "../../../../scripts/lib/output.mjs";
import { run as execute } from "../../../../scripts/lib/run.mjs";
import { fixturesIn } from "../../../support/fixtures.mjs";
import { texts } from "../data.mjs";
import { rotated } from "../numbers.mjs";
import { compileTypia } from "./typia.mjs";

const HERE = import.meta.dirname;
const RIVALS = join(HERE, "..", "rivals");
const UNTHROTTLED = ["--disable-background-timer-throttling", "--disable-renderer-backgrounding"];

/** The libraries that a user bundles, by name; our package is first. */
const BUNDLES = {
  "impact-pledge": `export { validate as check } from "impact-pledge/validate";`,
  "impact-pledge, …/js": `export { validate as check } from "impact-pledge/validate/js";`,
  "ajv 8": `export { check } from "./ajv.mjs";`,
  "ajv 8, standalone": null, // made from generated code
  typia: `export { check } from "./typia.mjs";`,
  "TypeBox 1": `export { check } from "./typebox.mjs";`,
  "TypeBox 0.34": `export { check } from "./typebox-0.34.mjs";`,
  sury: `export { check } from "./sury.mjs";`,
  arktype: `export { check } from "./arktype.mjs";`,
  "zod 4": `export { check } from "./zod.mjs";`,
  valibot: `export { check } from "./valibot.mjs";`,
};

const node = (...args) => execute(process.execPath, args);

/**
 * Runs the benchmark once.
 * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools
 * @param {{rounds: number, batchMs: number, starts: number}} plan
 * @param {string} folder for intermediate files
 */
export async function run(tools, plan, folder) {
  mkdirSync(folder, { recursive: true });
  const input = join(folder, "input.json");
  writeFileSync(input, JSON.stringify({ plan, cases: readCases() }));
  await compileTypia();
  log("validate: in Node");
  const inNode = JSON.parse(await node(join(HERE, "node.mjs"), input));
  const { result: browser, chromium } = await inBrowser(tools, input, folder);
  const bundles = await bundleAll(folder);
  const starts = await startAll(bundles, plan.starts);
  const bytes = bundles.map(({ file: _, ...sizes }) => sizes);
  return { node: inNode, browser, chromium, bytes, starts };
}

/**
 * Returns the test cases as JavaScript values. These are the rows of the validation fixtures, and a request
 * for each string of the format fixtures. Rows that test raw bytes are left out, because JavaScript values
 * cannot express such bytes.
 */
function readCases() {
  const requests = fixturesIn("validation")
    .flatMap(({ rows }) => rows)
    .filter(({ only }) => only !== "bytes")
    .map((row) => ({ value: rowValue(row), valid: row.issues.length === 0 }));
  const formats = fixturesIn("formats").flatMap(({ format, rows }) =>
    rows.map(({ value, valid }) => ({ value: withText(format, value), valid })),
  );
  return [...requests, ...formats];
}

function rowValue({ value, json, hex }) {
  const text = hex === undefined ? json : Buffer.from(hex, "hex").toString();
  return text === undefined ? value : JSON.parse(text);
}

function withText(format, value) {
  const request = {
    reference: "order-1",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  };
  if (format === "email") return { ...request, recipient: { email: value } };
  return { ...request, trigger: format === "uri" ? { externalUrl: value } : { date: value } };
}

async function inBrowser(tools, input, folder) {
  const { chromium } = await import("playwright-core");
  const page = join(folder, "page.js");
  await bundle({ entryPoints: [join(HERE, "page.mjs")], outfile: page, format: "iife" });
  const browser = await chromium.launch({
    executablePath: tools.browser ?? undefined,
    args: [...FLAGS, ...UNTHROTTLED],
  });
  try {
    const tab = await browser.newPage();
    tab.on("console", (message) => log(`validate: in Chromium, ${message.text()}`));
    await tab.addScriptTag({ path: page });
    const result = await tab.evaluate(
      (text) => globalThis.contest(JSON.parse(text)),
      readFileSync(input, "utf8"),
    );
    return { result, chromium: browser.version() };
  } finally {
    await browser.close();
  }
}

async function bundle(options) {
  const { build } = await import("esbuild");
  await build({
    bundle: true,
    minify: true,
    target: "es2022",
    platform: "browser",
    logLevel: "error",
    ...options,
  });
}

/** Bundles the libraries for a browser, as a user's bundler does. */
async function bundleAll(folder) {
  const bundles = [];
  for (const [name, code] of Object.entries(BUNDLES)) {
    const file = join(folder, `bundle-${bundles.length}.mjs`);
    const contents = code ?? (await standaloneAjv());
    await bundle({ stdin: { contents, resolveDir: RIVALS }, outfile: file, format: "esm" });
    const bytes = readFileSync(file);
    bundles.push({
      name,
      file,
      minified: bytes.length,
      gzip: gzipSync(bytes, { level: 9 }).length,
      brotli: brotliCompressSync(bytes).length,
    });
  }
  return bundles;
}

/** Returns the code that ajv's standalone compiler generates, in the form that a page would ship. */
async function standaloneAjv() {
  const names = [
    "ajv/dist/2020.js",
    "ajv/dist/standalone/index.js",
    "ajv-formats",
    "../rivals/schema.mjs",
  ];
  const [{ default: Ajv }, { default: standalone }, { default: addFormats }, { requestSchema }] =
    await Promise.all(names.map((name) => import(name)));
  const ajv = new Ajv({ allErrors: true, code: { source: true, esm: true } });
  addFormats(ajv, { mode: "full", formats: ["email", "uri", "date-time"] });
  const code = standalone.default(ajv, ajv.compile(requestSchema));
  return `${code}\nexport const check = (value) => (validate(value) ? [] : validate.errors);`;
}

async function startAll(bundles, rounds) {
  const [payload] = texts("small");
  const times = Object.fromEntries(bundles.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    log(`validate: start ${round + 1} of ${rounds}`);
    for (const { name, file } of rotated(bundles, round))
      times[name].push(Number(await node(join(HERE, "start.mjs"), file, payload)));
  }
  return times;
}
