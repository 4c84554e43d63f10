/** Renders Markdown as HTML: links between pages, anchors as on GitHub, highlighted code, tables that scroll. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import hljs from "highlight.js/lib/common";
import http from "highlight.js/lib/languages/http";
import { imageSize } from "image-size";
import markdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import { relativeLink, resolveLink } from "./pages.js";

hljs.registerLanguage("http", http);

const OTHER_NAMES = { jsonc: "json", sh: "bash", mjs: "javascript" };

/** Returns the anchor of a heading, as GitHub makes it. @param {string} heading */
export const slug = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

function highlight(code, name) {
  const language = OTHER_NAMES[name] ?? name;
  return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : "";
}

const md = markdownIt({ html: false, highlight }).use(anchor, {
  slugify: slug,
  level: [2, 3, 4],
  tabIndex: false,
  permalink: anchor.permalink.headerLink({ class: "anchor" }),
});

// A box that scrolls must be reachable by keyboard.
md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
md.renderer.rules.table_close = () => "</table></div>\n";
const fence = md.renderer.rules.fence;
md.renderer.rules.fence = (tokens, index, options, env, self) =>
  fence?.(tokens, index, options, env, self).replace("<pre>", '<pre tabindex="0">') ?? "";

/**
 * @typedef {{level: number, id: string, title: string, text: string}} Section
 * @typedef {{html: string, sections: Section[]}} Rendered `sections`: the page's text under each of its headings
 */

/**
 * Renders a page.
 * @param {import("./pages.js").Page} page
 * @param {import("./pages.js").Site} site
 * @returns {Rendered}
 */
export function render(page, site) {
  const tokens = md.parse(page.markdown, {});
  for (const token of tokens) {
    if (token.children) mend(token.children, page, site);
    // The policy of the pages allows no style in attributes.
    if (token.attrGet("style")) token.attrs = [["class", "figure"]];
  }
  labelCells(tokens);
  return { html: md.renderer.render(tokens, md.options, {}), sections: sectionsOf(tokens, page) };
}

/** Gives each cell of a table the head of its column, which narrow screens show beside it. */
function labelCells(tokens) {
  let heads = [];
  let row = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "table_open") heads = [];
    if (token.type === "tr_open") row = [...heads];
    if (token.type === "td_open") token.attrSet("data-label", row.shift() ?? "");
    if (token.type === "th_open") heads.push(headOf(token, tokens[index + 1], tokens[index + 2]));
  }
}

/** Returns the text of a head. A cell without text is no head. */
function headOf(open, content, close) {
  const text = textOf(content);
  if (text === "") for (const token of [open, close]) token.tag = "td";
  return text;
}

/** Points the links and pictures of a paragraph to their places in the site. */
function mend(children, page, site) {
  for (const [index, token] of children.entries()) {
    if (token.type === "link_open") mendLink(token, children[index + 1], page, site);
    if (token.type === "image") mendImage(token, page, site);
  }
}

function mendLink(token, text, { address, file }, site) {
  const href = String(token.attrGet("href"));
  if (href.startsWith("#")) return;
  const { page, file: copied, url, anchor: to } = resolveLink(href, file, site);
  const here = page?.address ?? copied;
  token.attrSet("href", url ?? relativeLink(address, here) + (to && `#${to}`));
  // Some documents write the name of the file as the text of the link.
  if (page && text?.content && href.endsWith(text.content)) text.content = page.title;
}

function mendImage(token, { address, file }, site) {
  const { file: copied = "" } = resolveLink(String(token.attrGet("src")), file, site);
  const { width, height } = imageSize(readFileSync(join(site.root, "docs", copied)));
  const more = { src: relativeLink(address, copied), width, height, loading: "lazy" };
  for (const [name, value] of Object.entries(more)) token.attrSet(name, String(value));
}

/** Returns the text under each heading, for the search and the list of a page's headings. */
function sectionsOf(tokens, { title }) {
  /** @type {Section[]} */
  const sections = [{ level: 1, id: "", title, text: "" }];
  for (const [index, token] of tokens.entries()) {
    const last = sections[sections.length - 1];
    const isTitle = tokens[index - 1]?.type === "heading_open";
    if (token.type === "heading_open" && token.tag !== "h1")
      sections.push({
        level: Number(token.tag.slice(1)),
        id: String(token.attrGet("id")),
        title: textOf(tokens[index + 1]),
        text: "",
      });
    else if (token.type === "inline" && !isTitle) last.text += `${textOf(token)} `;
    else if (token.type === "fence") last.text += `${token.content} `;
  }
  return sections;
}

const textOf = ({ children }) =>
  (children ?? [])
    .filter(({ type }) => ["text", "code_inline", "softbreak"].includes(type))
    .map(({ type, content }) => (type === "softbreak" ? " " : content))
    .join("");

/** Returns the highlighted HTML of a block of code. @param {string} code @param {string} language */
export const renderCode = (code, language) => md.render(`\`\`\`${language}\n${code}\n\`\`\``);

/** Returns the HTML of a paragraph or a list. @param {string} markdown */
export const renderText = (markdown) => md.render(markdown);
