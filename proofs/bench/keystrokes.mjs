/**
 * `node proofs/bench/keystrokes.mjs [trace.json]`: what a keystroke costs in a form of 50 pledges with every member,
 * read from a trace of Chromium. No test: a machine's speed is nothing to pass or fail.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { FLAGS } from "../../scripts/lib/browser.mjs";
import { tools } from "../../tests/browser/chromium.mjs";
import { packed } from "../../tests/package/packed.mjs";

const PLEDGES = 50;
const DETAIL = [
  "name",
  "description",
  "nounSingular",
  "nounPlural",
  "image",
  "externalId",
  "externalUrl",
];
const FRAME_MS = 16;
const ORIGIN = "http://form.test";

const input = (name, value) =>
  `<p><label>${name} <input name="${name}" value="${value}"></label></p>`;

function pledge(index) {
  const at = `pledges.${index}`;
  const detail = DETAIL.map((name) =>
    input(
      `${at}.detail.${name}`,
      /image|Url/.test(name) ? `https://example.org/${name}/${index}` : `${name} ${index}`,
    ),
  );
  return [
    input(`${at}.impact.amount`, index + 1),
    input(`${at}.impact.offeringId`, "tree"),
    ...detail,
  ].join("");
}

const page50 = `<!doctype html><title>Fifty pledges</title><form>${input("reference", "order-1")}${input("recipient.email", "")}
${Array.from({ length: PLEDGES }, (_, index) => pledge(index)).join("")}</form><script type="module" src="/form.js"></script>`;

const SCRIPT =
  'import { bindForm } from "impact-pledge/form"; globalThis.bound = bindForm(document.forms[0], {});';

/** The script with the installed package. */
async function bundled() {
  const { outputFiles } = await build({
    stdin: { contents: SCRIPT, resolveDir: (await packed()).folder },
    bundle: true,
    format: "esm",
    minify: true,
    write: false,
  });
  return outputFiles[0].text;
}

async function traced(path) {
  const browser = await chromium.launch({
    executablePath: tools.browser ?? undefined,
    args: FLAGS,
  });
  const page = await browser.newPage();
  const body = await bundled();
  await page.route(`${ORIGIN}/**`, (route) =>
    route.fulfill(
      route.request().url().endsWith(".js")
        ? { contentType: "text/javascript", body }
        : { contentType: "text/html", body: page50 },
    ),
  );
  await page.goto(ORIGIN);
  await page.waitForFunction(() => globalThis.bound);
  await page.focus("[name='recipient.email']");
  await page.keyboard.press("Tab"); // from now on its problem is shown and changes
  await browser.startTracing(page, {
    path,
    categories: ["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"],
  });
  await page.focus("[name='recipient.email']");
  await page.keyboard.type("ada.lovelace@example.org", { delay: 60 });
  await page.focus("[name='pledges.49.detail.externalUrl']");
  await page.keyboard.type("/a path with spaces/and%more", { delay: 60 });
  await browser.stopTracing();
  await browser.close();
}

/** Milliseconds of each `input` event's listeners, and of the whole task with style, layout and paint around it. */
function costs(path) {
  const { traceEvents } = JSON.parse(readFileSync(path, "utf8"));
  const inputs = traceEvents.filter(
    ({ name, args }) => name === "EventDispatch" && args.data?.type === "input",
  );
  const tasks = traceEvents.filter(({ name, dur }) => /RunTask$/.test(name) && dur > 0);
  const around = ({ ts, tid, pid }) =>
    tasks
      .filter(
        (task) => task.tid === tid && task.pid === pid && task.ts <= ts && task.ts + task.dur >= ts,
      )
      .at(0);
  return {
    listeners: inputs.map(({ dur }) => dur / 1000),
    tasks: inputs.map((event) => (around(event)?.dur ?? 0) / 1000),
  };
}

function row(name, values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(2);
  return `| ${name} | ${sorted.length} | ${at(0.5)} | ${at(0.95)} | ${sorted.at(-1).toFixed(2)} | ${values.filter((value) => value >= FRAME_MS).length} |`;
}

const folder = mkdtempSync(join(tmpdir(), "impact-pledge-trace-"));
const path = process.argv[2] ?? join(folder, "trace.json");
await traced(path);
const { listeners, tasks } = costs(path);
console.log(
  `A form of ${PLEDGES} pledges, ${2 + PLEDGES * (2 + DETAIL.length)} fields, in ${process.platform} Chromium; milliseconds\n`,
);
console.log(
  "| Of a keystroke | count | median | 95 % | most | over a frame |\n|---|---|---|---|---|---|",
);
console.log(row("the check and its messages", listeners));
console.log(row("the whole task, with layout and paint", tasks));
rmSync(folder, { recursive: true, force: true });
