/** The start page: what the product is, in one screen, and the two ways. Picture, sample and facts come from the README. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { html, raw } from "hono/html";
import { renderCode, renderText } from "./markdown.js";
import { pageOf, relativeLink, resolveLink } from "./pages.js";
import { REFERENCE, WAYS } from "./ways.js";

export const TITLE = "pledges for each order, recorded once";

/** Returns the README as a page. @param {string} root */
export const readme = (root) =>
  pageOf(
    "",
    "README.md",
    readFileSync(join(root, "README.md"), "utf8").replaceAll(/^\[!\[.*\n/gm, ""),
  );

/**
 * @param {import("./pages.js").Page} page the README
 * @param {import("./pages.js").Site} site
 * @param {{hasPlayground: boolean}} options
 */
export function startPage(page, site, { hasPlayground }) {
  const blocks = [...page.markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const block = (name, word) =>
    blocks.find(([, language, code]) => language === name && code.includes(word))?.[2].trim() ?? "";
  const facts = page.markdown.match(/(?:^- \*\*.+\n)+/m)?.[0] ?? "";
  const to = (target) => relativeLink("", target);
  return html`<main id="content" class="start" tabindex="-1">
<section class="first">
<div class="claim">
<h1>“We plant a tree for your order.”</h1>
<p>A shop promises it. Impact Pledge records each such pledge exactly once, and gives the buyer a page that shows what was pledged and what has happened since.</p>
<p class="doors">${WAYS.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</p>
${hasPlayground ? html`<p><a href="${to("playground/")}">Try the service in this browser</a></p>` : ""}
</div>
<img src="images/overview.avif" width="1520" height="800" alt="A buyer's timeline, with what has happened since, beside the operator's page of payments">
</section>
<section class="sample" aria-label="Sample">
${raw(renderCode(block("sh", "npm install impact-pledge"), "sh"))}
${raw(renderCode(block("js", "createPledgeTransaction"), "js"))}
</section>
<section class="ways" aria-label="Two ways to begin">
${WAYS.map(wayList)}
</section>
<section class="facts" aria-label="Facts">
${raw(renderText(withLinks(facts, page, site)))}
</section>
<section class="local">
<h2>Call it without an account</h2>
<p>The package has the service for tests. One command runs it on your machine, with Node and nothing else:</p>
${raw(renderCode("npx impact-pledge serve", "sh"))}
<p>Then call it from a second terminal:</p>
${raw(renderCode(block("sh", "curl "), "sh"))}
</section>
</main>`;
}

/** Returns the list of a way. @param {import("./ways.js").Way} way */
const wayList = ({ id, title, lead, instead, steps, reference }) => html`<section id="${id}">
<h2>${title}</h2>
<p>${lead}</p>
${instead ? html`<p class="instead"><a href="${instead.page}"><b>${instead.label}</b></a> ${instead.does} Or, with code:</p>` : ""}
<ol>
${steps.map(({ page, label, does }) => html`<li><a href="${page}"><b>${label}</b></a> ${does}</li>`)}
</ol>
<p class="look">Look up: ${linksOf(reference)}</p>
</section>`;

/** Returns links to the pages of a group of the reference. */
const linksOf = (title) =>
  REFERENCE.filter((group) => group.title === title)
    .flatMap(({ pages }) => pages)
    .map(({ page, label }, index) => html`${index > 0 ? ", " : ""}<a href="${page}">${label}</a>`);

/** Points links of the README to pages of the site. */
const withLinks = (markdown, { file }, site) =>
  markdown.replaceAll(/(?<=\]\()([^)\s]+)(?=\))/g, (href) => {
    const { page, url, anchor } = resolveLink(href, file, site);
    return (url ?? page?.address) + (anchor && `#${anchor}`);
  });
