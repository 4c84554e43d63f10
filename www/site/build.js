/** Builds the site from the documents. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { html } from "hono/html";
import { apiPage } from "./api.js";
import { codePages, isFamily, withList } from "./codes.js";
import { article, frame, POLICY } from "./layout.js";
import { asMarkdown, llmsText, SUMMARY } from "./llms.js";
import { render } from "./markdown.js";
import { ORIGIN } from "./origin.js";
import { documents, FILES, htmlFile, markdownFile } from "./pages.js";
import { searchIndex } from "./search-index.js";
import { readme, startPage, TITLE } from "./start.js";
import { named } from "./ways.js";

const ASSETS = join(import.meta.dirname, "assets");
/** Where the playground is built. The site has a copy of it, if it is there. */
const PLAYGROUND = "playground-build";

/**
 * Builds the site into an empty folder.
 * @param {string} root the clone @param {string} folder
 * @param {string} [playground] the folder of the built playground, which need not exist
 */
export async function buildSite(root, folder, playground = join(root, PLAYGROUND)) {
  const write = (file, text) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const options = { hasPlayground: existsSync(playground) };
  const found = documents(root);
  const texts = found.map((page) => (page.address === "errors/" ? withList(page, found) : page));
  const api = apiPage(readFileSync(join(root, "docs", "openapi.yaml"), "utf8"));
  const start = readme(root);
  const pages = [...texts, api, ...codePages(texts)];
  checkNavigation(pages);
  const site = { root, pages: new Map([start, ...texts].map((page) => [page.file, page])) };

  const rendered = pages.map((page) => ({ page, ...render(page, site) }));
  for (const { page, ...content } of rendered)
    write(htmlFile(page.address), String(frame(page, article(page, content), options)));
  const head = { address: "", title: TITLE, about: SUMMARY, file: start.file };
  write("index.html", String(frame(head, startPage(start, site, options), options)));
  write("404.html", notFound(options));

  for (const page of [start, ...pages]) write(markdownFile(page.address), asMarkdown(page, site));
  write("llms.txt", llmsText(new Map(pages.map((page) => [page.address, page]))));
  write("llms-full.txt", [start, api, ...texts].map((page) => asMarkdown(page, site)).join("\n\n"));
  write("search.json", searchIndex(rendered.filter(({ page }) => !texts.some(isFamilyOf(page)))));
  write("sitemap.xml", sitemap([start, ...pages]));
  write("_headers", HEADERS);
  await copyAssets(root, folder);
  if (options.hasPlayground) cpSync(playground, join(folder, "playground"), { recursive: true });
}

/** Families of codes are left out of the search: each of their codes is a page, with the same text. */
const isFamilyOf = (page) => (text) => text === page && isFamily(text);

/** Checks that a reader can find each page, and that no two pages have one address. */
function checkNavigation(pages) {
  const addresses = pages.map(({ address }) => address);
  const twice = addresses.filter((address, index) => addresses.indexOf(address) !== index);
  const missing = named().filter((address) => !addresses.includes(address));
  const hidden = addresses.filter((it) => !it.includes("/") && !named().includes(it));
  const problems = {
    "are there twice": twice,
    "do not exist": missing,
    "are not in ways.js": hidden,
  };
  for (const [problem, list] of Object.entries(problems))
    if (list.length > 0) throw new Error(`pages ${problem}: ${list.join(", ")}`);
}

const NOT_FOUND = { address: "404", title: "Page not found", about: "There is no such page." };

/** Returns the page that a host shows at any unknown address, so its links begin at the origin. */
function notFound(options) {
  const content = html`<main id="content" class="start" tabindex="-1">
<h1>Page not found</h1>
<p>There is no page at this address. Search for it, or begin at the <a href="./">start page</a>.</p>
</main>`;
  const base = new URL(`${ORIGIN}/`).pathname;
  const page = String(frame(NOT_FOUND, content, options)).replace(
    /<link rel="(?:canonical|alternate)".*\n/g,
    "",
  );
  return page.replaceAll(/ (href|src)="(?!https?:|#)(?:\.\/)?/g, ` $1="${base}`);
}

const sitemap = (pages) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages.map(({ address }) => `<url><loc>${ORIGIN}/${address}</loc></url>`).join("\n")}
</urlset>
`;

/** Headers for hosts that read them, such as Cloudflare Pages. The playground has a policy of its own. */
const HEADERS = `/*
  Content-Security-Policy: ${POLICY}; frame-ancestors 'none'
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
/playground/*
  ! Content-Security-Policy
  X-Frame-Options: DENY
/*.md
  Content-Type: text/markdown; charset=utf-8
`;

/** Copies pictures and files, and bundles the scripts. */
async function copyAssets(root, folder) {
  cpSync(join(root, "docs", "images"), join(folder, "images"), { recursive: true });
  for (const file of FILES) cpSync(join(root, "docs", file), join(folder, file));
  await build({
    entryPoints: ["theme.js", "page.js", "search.js", "style.css", "icon.svg"].map((name) =>
      join(ASSETS, name),
    ),
    outdir: folder,
    loader: { ".svg": "copy" },
    bundle: true,
    external: ["./search.js"],
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
}
