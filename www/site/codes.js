/**
 * Makes a page for each error code and notice. Each document of `docs/errors` is a family of codes: a heading of the
 * second level is a code, and the paragraphs below it say what it means, why, and what to do. Other families are
 * tables of a document.
 */
import { pageOf, plain } from "./pages.js";

/**
 * @typedef {import("./pages.js").Page} Page
 * A code of one family. `see`: a link to the family, from the document.
 * @typedef {{code: string, title: string, text: string, file: string, see: string}} Code
 */

/** The sections with a table whose rows begin with a code, and whose last column says what to do. */
const TABLES = [
  ["docs/emails.md", "Check, preview and resend", "State of an e-mail or a message"],
  ["docs/messaging.md", "Check, preview and resend", "State of a message"],
  ["docs/dashboard.md", "Get e-mails", "E-mail of the dashboard"],
  ["docs/ledger.md", "Findings", "Finding of the ledger"],
  ["docs/shop-systems.md", "What happens to an order", "Outcome of an order"],
];

/** Whether a document is a family of codes. @param {Page} page */
export const isFamily = ({ file }) =>
  file.startsWith("docs/errors/") && !file.endsWith("README.md");

/** Returns the codes of a document of `docs/errors`. @param {Page} page @returns {Code[]} */
export function codesOf({ file, title, markdown }) {
  const sections = markdown.split(/^## /m).slice(1);
  return sections.map((section) => {
    const [heading = ""] = section.split("\n");
    const [, code = ""] = heading.match(/^`([^`]+)`$/) ?? [];
    if (!code) throw new Error(`${file} has a heading that is not a code: ${heading}`);
    return { code, title, text: section.slice(heading.length).trim(), file, see: `[${title}](#)` };
  });
}

/** Returns the codes of the tables in other documents. @param {Page[]} documents @returns {Code[]} */
const codesOfTables = (documents) =>
  TABLES.flatMap(([file, heading, title]) => {
    const { markdown = "" } = documents.find((page) => page.file === file) ?? {};
    const [, section = ""] = markdown.split(`\n## ${heading}\n`);
    const anchor = heading.toLowerCase().replaceAll(",", "").replaceAll(" ", "-");
    const see = `[${heading}](#${anchor})`;
    return rowsOf(section.split("\n## ")[0]).flatMap(({ codes, label, meaning, remedy }) =>
      codes.map((code) => ({
        ...{ code, title, file, see },
        text: `${label}${meaning}\n\n**What to do.** ${remedy}`,
      })),
    );
  });

/** Returns the rows of a section's tables that say what to do about a code. */
function rowsOf(section) {
  const tables = section.split("\n\n").filter((block) => /\| What to do \|$/m.test(block));
  return tables.flatMap((table) =>
    table
      .split("\n")
      .slice(2)
      .filter((line) => line.startsWith("|"))
      .map((line) => {
        const cells = line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim());
        const at = cells.findIndex((cell) => cell.includes("`"));
        // Such as "`failed`: `unsent`": the reason is the code.
        const [before, own] = cells[at].split(/: (?=`)/);
        const codes = [...(own ?? before).matchAll(/`([\w-]+)`/g)].map(([, code]) => code);
        const words = at > 0 ? `${cells[0]}. ` : "";
        const label = own ? `With the state ${before}. ` : words;
        return { codes, label, meaning: cells[at + 1], remedy: cells[at + 2] };
      }),
  );
}

/** Returns all codes, those of one name together. @param {Page[]} documents */
export function codesByName(documents) {
  const codes = [...documents.filter(isFamily).flatMap(codesOf), ...codesOfTables(documents)];
  return Object.entries(Object.groupBy(codes, ({ code }) => code)).map(([code, meanings = []]) => ({
    code,
    meanings,
  }));
}

/** Returns a page for each code. A code that several families have is one page with each meaning. @param {Page[]} documents */
export const codePages = (documents) =>
  codesByName(documents).map(({ code, meanings }) => {
    const [{ file }] = meanings;
    const parts = meanings.map(partOf(file, meanings.length > 1));
    const page = pageOf(`errors/${code}`, file, `# \`${code}\`\n\n${parts.join("\n\n")}\n`);
    return { ...page, about: `${code}: ${plain(meanings[0].text.split("\n\n")[0])}` };
  });

/** Returns what a code means in one family. Links of the family's document are made to begin at the page's. */
const partOf = (from, isOneOfSeveral) => (meaning) => {
  const { title, text, file, see } = meaning;
  const moved = (markdown) =>
    markdown.replaceAll(/(?<=\]\()(?![a-z]+:)([^)#]*)(?=[#)])/g, (path) =>
      linkFrom(from, file, path),
    );
  const heading = isOneOfSeveral ? `## ${title}\n\n` : "";
  return `${heading}${moved(text)}\n\nSee also: ${moved(see)}`.replaceAll("#)", ")");
};

/** Returns a link that a document has, as another document would have it. */
function linkFrom(from, file, path) {
  const target = new URL(path || file.split("/").at(-1) || "", `https://x/${file}`).pathname;
  return "../".repeat(from.split("/").length - 1) + target.slice(1);
}

/** Returns the document about all codes, with a list of them. @param {Page} page @param {Page[]} documents @returns {Page} */
export function withList(page, documents) {
  const families = Object.groupBy(
    codesByName(documents).flatMap(({ meanings }) => meanings),
    ({ title }) => title,
  );
  const lists = Object.entries(families).map(([title, codes = []]) => {
    const links = new Set(codes.map(({ code }) => `[\`${code}\`](code:${code})`));
    return `## ${title}\n\n${[...links].join(", ")}`;
  });
  return { ...page, markdown: `${page.markdown}\n${lists.join("\n\n")}\n` };
}
