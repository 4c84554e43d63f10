/** Makes the files for programs that read Markdown: `llms.txt`, `llms-full.txt`, and each page as Markdown. */
import { ORIGIN } from "./origin.js";
import { markdownFile, resolveLink } from "./pages.js";
import { pagesOf, REFERENCE, WAYS } from "./ways.js";

/** What the product is, in a paragraph. */
export const SUMMARY =
  "A shop promises: “We plant a tree for your order”. Impact Pledge records each such pledge exactly once, and shows the buyer a page about it, the timeline. Shops call two endpoints; an operator hosts the service on Cloudflare.";

const address = (page) => `${ORIGIN}/${markdownFile(page)}`;

/** Returns a page's Markdown, whose links lead to the site. */
export function asMarkdown(page, site) {
  const mended = (text) =>
    text.replaceAll(/(?<=\]\()([^)\s]+)(?=\))/g, (href) => {
      const { page: to, file, url, anchor } = resolveLink(href, page.file, site);
      const target = to ? address(to.address) : (url ?? `${ORIGIN}/${file}`);
      return target + (anchor && `#${anchor}`);
    });
  // Every second part is a block of code.
  const parts = page.markdown.split(/^(```[\s\S]*?^```$)/m);
  return parts.map((part, index) => (index % 2 ? part : mended(part))).join("");
}

/** @param {Map<string, import("./pages.js").Page>} pages by their addresses */
export function llmsText(pages) {
  const line = ({ page }) => {
    const { title = page, about = "" } = pages.get(page) ?? {};
    return `- [${title}](${address(page)}): ${about}`;
  };
  const section = (title, list) => `## ${title}\n\n${list.map(line).join("\n")}`;
  const references = REFERENCE.map((group) => section(`Reference ${group.title}`, group.pages));
  return `# Impact Pledge

> ${SUMMARY}

All pages in one file: ${ORIGIN}/llms-full.txt. The API for programs: ${ORIGIN}/openapi.yaml. Each page is Markdown if you add
\`.md\` to its address. Each error code and notice has a page at ${ORIGIN}/errors/{code}.md.

${[...WAYS.map((way) => section(way.title, pagesOf(way))), ...references].join("\n\n")}
`;
}
