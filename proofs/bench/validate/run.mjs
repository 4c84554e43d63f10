/** `bench:validate`, one run: in Node, in Chromium, bytes, start-up, growth. Each in processes of its own. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { UserError, log, tail } from "../../../scripts/lib/output.mjs";
import { texts } from "../data.mjs";
import { rotated } from "../numbers.mjs";

const HERE = import.meta.dirname;
const RIVALS = join(HERE, "..", "rivals");

/** The libraries that a user bundles, by name; ours first. */
export const BUNDLES = {
  "impact-pledge": `export { validate as check } from "impact-pledge/validate";`,
  "impact-pledge, …/js": `export { validate as check } from "impact-pledge/validate/js";`,
  "ajv 8": `export { check } from "./ajv.mjs";`,
  "ajv 8, standalone": null, // made from generated code
  "zod 4": `export { check } from "./zod.mjs";`,
  "zod/mini": `export { check } from "./zod-mini.mjs";`,
  valibot: `export { check } from "./valibot.mjs";`,
  typebox: `export { check } from "./typebox.mjs";`,
  arktype: `export { check } from "./arktype.mjs";`,
};

/**
 * @typedef {{rounds: number, batchMs: number}} DuelPlan
 * @param {import("../../../scripts/lib/tools.mjs").Tools} tools
 * @param {{node: DuelPlan, browser: DuelPlan, starts: number, growth: number[]}} plan
 * @param {string} folder for what is made on the way
 */
export async function validateRun(tools, plan, folder) {
  mkdirSync(folder, { recursive: true });
  const cases = readCases(tools.root);
  const node = await inNode({ plan: plan.node, cases });
  const { result: browser, version } = await inBrowser(
    tools,
    { plan: plan.browser, cases },
    folder,
  );
  const bundles = await bundleAll(folder);
  const starts = await startAll(bundles, plan.starts);
  const growth = await grow(plan.growth);
  return {
    node,
    browser,
    chromium: version,
    bytes: bundles.map(({ file: _file, ...sizes }) => sizes),
    starts,
    growth,
  };
}

/**
 * Every row of the fixtures that is a JavaScript value, and every string of the formats in its
 * member.
 */
function readCases(root) {
  const folder = join(root, "tests", "fixtures");
  const files = (name) =>
    readdirSync(join(folder, name))
      .sort()
      .map((file) => JSON.parse(readFileSync(join(folder, name, file), "utf8")));
  const rows = files("validation")
    .flatMap(({ rows }) => rows)
    .filter(({ only }) => only !== "bytes");
  const requests = rows.map((row) => ({
    name: row.name,
    value: rowValue(row),
    valid: row.issues.length === 0,
  }));
  const formats = files("formats").flatMap(({ format, rows }) =>
    rows.map(({ value, valid, why }) => ({ name: why, value: withText(format, value), valid })),
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
  if (format === "email") request.recipient.email = value;
  else request.trigger = format === "uri" ? { externalUrl: value } : { date: value };
  return request;
}

async function inNode(input) {
  const output = await node([join(HERE, "node.mjs")], {
    input: JSON.stringify(input),
    progress: (line) => log(`validate: Node, ${line}`),
  });
  return JSON.parse(output);
}

/**
 * Runs a fresh Node to its end.
 * @param {string[]} args
 * @param {{input?: string, progress?: (line: string) => void}} [options]
 * @returns {Promise<string>} what it prints
 */
async function node(args, { input = "", progress } = {}) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.stdin.end(input);
  let problem = "";
  child.stderr.setEncoding("utf8").on("data", (lines) => {
    problem += lines;
    if (progress) for (const line of lines.trim().split("\n")) progress(line);
  });
  const output = await text(child.stdout);
  if ((await ended) !== 0)
    throw new UserError(`\`${args.join(" ")}\` failed:\n${tail(problem, 15)}`);
  return output;
}

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-background-timer-throttling",
  "--disable-renderer-backgrounding",
];

async function inBrowser(tools, { plan, cases }, folder) {
  const { chromium } = await import("playwright-core");
  const page = join(folder, "page.js");
  await bundle({ entryPoints: [join(HERE, "page.mjs")], outfile: page, format: "iife" });
  const browser = await chromium.launch({ executablePath: tools.browser, args: FLAGS });
  try {
    const tab = await browser.newPage();
    tab.on("console", (message) => log(`validate: Chromium, ${message.text()}`));
    await tab.addScriptTag({ path: page });
    tab.setDefaultTimeout(0);
    const result = await tab.evaluate(
      ([plan, cases]) => globalThis.contest(plan, JSON.parse(cases)),
      [plan, JSON.stringify(cases)],
    );
    return { result, version: browser.version() };
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

/** As a user's bundler makes them for a browser. */
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

/** ajv's own compiler to a module: what a page would ship. */
async function standaloneAjv() {
  const [{ default: Ajv }, { default: standalone }, { default: addFormats }, { requestSchema }] =
    await Promise.all(
      [
        "ajv/dist/2020.js",
        "ajv/dist/standalone/index.js",
        "ajv-formats",
        "../rivals/schema.mjs",
      ].map((name) => import(name)),
    );
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
      times[name].push(Number(await node([join(HERE, "start.mjs"), file, payload])));
  }
  return times;
}

async function grow(sizes) {
  const rows = [];
  for (const size of sizes) {
    log(`validate: ${size} pledges`);
    for (const who of ["ours", "ajv"]) {
      for (const what of ["valid", "problems"]) {
        const output = await node([
          "--expose-gc",
          join(HERE, "growth.mjs"),
          who,
          String(size),
          what,
        ]);
        rows.push({ who, what, size, ...JSON.parse(output) });
      }
    }
  }
  return rows;
}
