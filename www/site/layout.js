/** The frame of each page: head, header, navigation, footer. */
import { html, raw } from "hono/html";
import { ORIGIN, REPOSITORY } from "./origin.js";
import { markdownFile, relativeLink } from "./pages.js";
import { named, pagesOf, REFERENCE, WAYS } from "./ways.js";

/** The policy of all pages: they load what the site has, and nothing else. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

const LEAF = raw(
  '<svg class="mark" viewBox="0 0 24 24" width="26" height="26" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="M7 17c0-6 3-9.500 10-10 .5 7-3 10-8.500 9.500M7 17l5-5"/></svg>',
);

/**
 * @typedef {{address: string, title: string, about: string, file?: string}} Head
 * @typedef {{hasPlayground: boolean}} Options
 */

/**
 * Returns a whole page.
 * @param {Head} head @param {unknown} content @param {Options} options
 */
export function frame(head, content, { hasPlayground }) {
  const { address, title, about } = head;
  const to = (target) => relativeLink(address, target);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${address === "" ? `Impact Pledge: ${title}` : `${title} · Impact Pledge`}</title>
<meta name="description" content="${about}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${about}">
<meta property="og:image" content="${ORIGIN}/images/overview.png">
<link rel="canonical" href="${ORIGIN}/${address}">
<link rel="alternate" type="text/markdown" href="${to(markdownFile(address))}">
<link rel="icon" href="${to("icon.svg")}">
<link rel="stylesheet" href="${to("style.css")}">
<script src="${to("theme.js")}"></script>
<script type="module" src="${to("page.js")}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="${to("")}">${LEAF}Impact Pledge</a>
<div class="tools"></div>
${hasNavigation(address) ? html`<button class="menu" type="button" popovertarget="site-pages">Pages</button>` : ""}
<nav class="bar" aria-label="Main">
${WAYS.map(({ id, title: name }) => html`<a href="${to("")}#${id}">${name}</a>`)}
<a href="${to("api")}">API</a>
${hasPlayground ? html`<a href="${to("playground/")}">Playground</a>` : ""}
<a href="${REPOSITORY}">GitHub</a>
</nav>
</header>
${content}
<footer class="end">
<p>Impact Pledge is open source under the <a href="${REPOSITORY}/blob/main/LICENSE">MIT licence</a>. See its <a href="${REPOSITORY}/blob/main/CHANGELOG.md">changes</a>, or <a href="${REPOSITORY}/blob/main/SECURITY.md">report a vulnerability</a>.</p>
<p>This site sets no cookies and loads nothing from other hosts. For programs: <a href="${to("llms.txt")}">llms.txt</a>, <a href="${to("openapi.yaml")}">openapi.yaml</a>${head.file ? html`, <a href="${to(markdownFile(address))}">this page as Markdown</a>` : ""}.</p>
</footer>
</body>
</html>
`;
}

/** Whether a page has navigation beside it. The start page and "not found" have none. */
const hasNavigation = (address) => address !== "" && address !== "404";

/**
 * Returns the content of a page of documentation, with navigation beside it.
 * @param {Head} head
 * @param {import("./markdown.js").Rendered} rendered
 */
export function article(head, { html: body, sections }) {
  const headings = sections.filter(({ level }) => level === 2);
  return html`<div class="columns">
${navigation(head.address)}
<main id="content" tabindex="-1">
${placeIn(head.address)}
<article>
${raw(body)}
</article>
${neighbours(head.address)}
${head.file ? html`<p class="edit"><a href="${REPOSITORY}/edit/main/${head.file}">Edit this page on GitHub</a></p>` : ""}
</main>
${headings.length > 1 ? outline(headings) : html`<div class="outline"></div>`}
</div>`;
}

const outline = (headings) => html`<nav class="outline" aria-label="On this page">
<p>On this page</p>
<ul>${headings.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
</nav>`;

/** Returns the address of the folder that a page is in, which is that of the page above it. */
const folderOf = (address) => address.replace(/[^/]*$/, "");

const wayOf = (address) => WAYS.find((way) => pagesOf(way).some(({ page }) => page === address));

/** Says which step of which way the page is. */
function placeIn(address) {
  const way = wayOf(address);
  const folder = folderOf(address);
  const parent = REFERENCE.flatMap(({ pages }) => pages).find(({ page }) => page === folder);
  if (parent && folder !== address)
    return html`<p class="place">Reference · <a href="./">${parent.label}</a></p>`;
  if (!way) return html`<p class="place">Reference</p>`;
  const number = way.steps.findIndex(({ page }) => page === address) + 1;
  return html`<p class="place">${way.title}${number ? html` · step ${number} of ${way.steps.length}` : " · without code"}</p>`;
}

/** Links to the steps before and after the page. */
function neighbours(address) {
  const steps = wayOf(address)?.steps ?? [];
  const at = steps.findIndex(({ page }) => page === address);
  const link = (step, name) =>
    step &&
    html`<a class="${name}" rel="${name}" href="${relativeLink(address, step.page)}"><span>${name === "prev" ? "Before" : "Next"}</span> ${step.label}</a>`;
  if (at < 0) return "";
  return html`<nav class="neighbours" aria-label="Steps">${link(steps[at - 1], "prev") ?? ""}${link(steps[at + 1], "next") ?? ""}</nav>`;
}

/** The pages of the site. On a narrow screen, a button of the header opens them. */
function navigation(address) {
  const current = named().includes(address) ? address : folderOf(address);
  const link = ({ page, label }) =>
    html`<li><a href="${relativeLink(address, page)}"${page === current ? raw(' aria-current="page"') : ""}>${label}</a></li>`;
  return html`<nav class="pages" id="site-pages" popover aria-label="Pages">
${WAYS.map(
  ({ title, instead, steps }) => html`<p>${title}</p>
${instead ? html`<ul class="instead">${link(instead)}</ul>` : ""}<ol>${steps.map(link)}</ol>`,
)}
${REFERENCE.map(({ title, pages }) => html`<p>Reference ${title}</p><ul>${pages.map(link)}</ul>`)}
</nav>`;
}
