/** Builds the site, and tests its links, its files for programs, and the weight of its pages. */
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { buildSite } from "../../www/site/build.js";
import { problemsOf } from "../../www/site/check.js";
import { ORIGIN } from "../../www/site/origin.js";
import { documents, markdownFile } from "../../www/site/pages.js";
import { named, WAYS } from "../../www/site/ways.js";

const MAX_PAGE_BYTES = 60_000;
/** The quality with which hosts compress while they answer. It is lower than the best. */
const AS_HOSTS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const folder = mkdtempSync(join(tmpdir(), "site-"));
const read = (file) => readFileSync(join(folder, file), "utf8");
const pages = () => globSync("**/*.html", { cwd: folder, exclude: ["playground/**"] });

const playground = mkdtempSync(join(tmpdir(), "playground-"));
writeFileSync(join(playground, "index.html"), "<title>Playground</title>");

before(() => buildSite(root, folder, playground));
after(() => {
  for (const made of [folder, playground]) rmSync(made, { recursive: true });
});

test("each link and picture leads to a page, a file or an element", () => {
  assert.ok(pages().length > 150, `${pages().length} pages`);
  assert.deepEqual(problemsOf(folder), []);
});

test("a link that leads nowhere is found", () => {
  const broken = `<p id="a"><a href="api">1</a><a href="nothing">2</a><a href="api#nobody">3</a></p><p id="a">`;
  writeFileSync(join(folder, "broken.html"), broken);
  try {
    assert.deepEqual(problemsOf(folder), [
      "broken.html: the id a is there twice",
      "broken.html: nothing leads nowhere",
      "broken.html: api#nobody names no element of the page",
    ]);
  } finally {
    rmSync(join(folder, "broken.html"));
  }
});

test("a built playground is copied, and each page links to it", () => {
  assert.equal(read("playground/index.html"), "<title>Playground</title>");
  for (const [page, href] of [
    ["index.html", "playground/"],
    ["errors/busy.html", "../playground/"],
    ["404.html", "/playground/"],
  ])
    assert.ok(read(page).includes(`<a href="${href}">Playground</a>`), page);
  assert.match(
    read("_headers"),
    /^\/playground\/\*\n {2}! Content-Security-Policy\n {2}X-Frame-Options: DENY$/m,
  );
});

/** The bytes of files after brotli. @type {Map<string, number>} */
const sizes = new Map();

/** Returns the bytes that a page loads before a reader asks for more, each file compressed as hosts do. */
function weightOf(page) {
  const html = read(page);
  const loaded = [
    ...html.matchAll(/<(?:link rel="stylesheet"|script|img)[^>]*? (?:href|src)="([^"]+)"[^>]*>/g),
  ]
    .filter(([tag]) => !tag.includes('loading="lazy"'))
    .map(([, href]) => new URL(href, `https://site.invalid/${page}`).pathname.slice(1));
  const bytes = (file) => {
    const known =
      sizes.get(file) ?? brotliCompressSync(readFileSync(join(folder, file)), AS_HOSTS).length;
    sizes.set(file, known);
    return known;
  };
  return [page, ...new Set(loaded)].reduce((sum, file) => sum + bytes(file), 0);
}

test("a page weighs at most 60 KB after brotli, with its pictures and without the search", (t) => {
  const weights = pages().map((page) => ({ page, bytes: weightOf(page) }));
  const heaviest = weights.toSorted((a, b) => b.bytes - a.bytes);
  for (const { page, bytes } of heaviest.slice(0, 3)) t.diagnostic(`${page}: ${bytes} bytes`);
  assert.ok(heaviest.at(-1).bytes > 2_000);
  assert.deepEqual(
    heaviest.filter(({ bytes }) => bytes > MAX_PAGE_BYTES),
    [],
  );
});

test("no page has code or style of its own, which its policy would refuse", () => {
  const inline = /<style|<script(?![^>]* src=)[^>]*>|<[^>]* (?:style|on\w+)="[^>]*>/;
  const found = pages().map((page) => ({ page, tag: read(page).match(inline)?.[0] }));
  assert.deepEqual(
    found.filter(({ tag }) => tag),
    [],
  );
});

test("each page is Markdown, too, and llms.txt and llms-full.txt have the documents", () => {
  const list = read("llms.txt");
  for (const address of named())
    assert.ok(list.includes(`(${ORIGIN}/${markdownFile(address)})`), address);
  const full = read("llms-full.txt");
  for (const { address, title } of documents(root)) {
    const markdown = read(markdownFile(address));
    assert.ok(markdown.startsWith("# ") && full.includes(markdown), title);
    assert.doesNotMatch(
      markdown.replaceAll(/^```[\s\S]*?^```$/gm, ""),
      /\]\((?!https?:|#|mailto:)/,
      title,
    );
  }
});

test("the reference of the API has each operation, status and member of openapi.yaml", () => {
  const page = read("api.md");
  const api = readFileSync(join(root, "docs", "openapi.yaml"), "utf8");
  const operations = [...api.matchAll(/^ {2}(\/v2.*):\n {4}(\w+):/gm)];
  assert.equal(operations.length, 2);
  for (const [, path, method] of operations)
    assert.ok(page.includes(`${method.toUpperCase()} ${path}\n`), path);
  for (const [, status] of api.matchAll(/^ {8}"(\d+)":/gm))
    assert.ok(page.includes(`| ${status} |`), status);
  for (const member of ["recipient.email", "pledges[].impact.amount", "pledges[].details[].image"])
    assert.ok(page.includes(`| \`${member}\` |`), member);
});

for (const { title, instead, steps } of WAYS)
  test(`README.md has the steps of “${title}” in their order`, () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [, section = ""] = readme.split(`\n## ${title}\n`);
    const links = section.split("\n## ")[0].matchAll(/\]\(docs\/([\w-]+)\.md\)/g);
    const wanted = [...(instead ? [instead] : []), ...steps].map(({ page }) => page);
    assert.deepEqual([...links].map(([, page]) => page).slice(0, wanted.length), wanted);
  });

test("the operator's way has at most 12 pages, in the order of docs/service.md", () => {
  const [, { steps }] = WAYS;
  const [, list = ""] = readFileSync(join(root, "docs", "service.md"), "utf8").split(
    "## Documentation",
  );
  const listed = [...list.matchAll(/^\d+\. \[[^\]]+\]\(([\w-]+)\.md\)/gm)].map(([, page]) => page);
  assert.deepEqual(
    ["service", ...listed],
    steps.map(({ page }) => page),
  );
  assert.ok(steps.length <= 12, `${steps.length}`);
});
