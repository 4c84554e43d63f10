/** Formats results as Markdown, and writes them to files. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { UserError } from "../../../scripts/lib/output.mjs";

/** The maximum length of a line of prose. */
const LINE = 120;

/** The section of docs/performance.md for the results of each part. @type {Record<string, string>} */
const SECTIONS = { validate: "Values", service: "Service", waits: "Waits", sizes: "Sizes" };

/**
 * Formats a table with aligned columns, which can also be read in an editor.
 * @param {string[]} heads
 * @param {(string | number)[][]} rows the first column is text, the others are figures
 */
export function table(heads, rows) {
  const widths = heads.map((_, column) =>
    Math.max(...[heads, ...rows].map((cells) => String(cells[column]).length)),
  );
  const line = (cells) => `| ${cells.map(padded).join(" | ")} |`;
  const padded = (cell, column) =>
    column === 0 ? cell.padEnd(widths[0]) : String(cell).padStart(widths[column]);
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [heads, rule, ...rows].map(line).join("\n");
}

/** Breaks the lines of prose, and leaves tables as they are. @param {string} markdown */
function wrapped(markdown) {
  const pieces = new RegExp(`(?=\\S).{1,${LINE}}(?!\\S)`, "g");
  const lines = (line) => (line.startsWith("|") ? line : (line.match(pieces) ?? []).join("\n"));
  return markdown.split("\n").map(lines).join("\n");
}

/**
 * Describes when and on what machine the benchmark ran, without names of hosts or folders.
 * @param {Record<string, string>} versions
 */
export function provenance(versions, runs) {
  const [{ model }] = cpus();
  const machine = `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release().split("-")[0]}`;
  const named = Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  const many = runs === 1 ? "One run" : `Medians of ${runs} separate runs`;
  return `${many}, ${new Date().toISOString().slice(0, 10)}. Machine: ${machine}. Versions: ${named}.`;
}

/** Returns the installed versions of packages. @param {string} folder with node_modules @param {string[]} names */
export function versionsOf(folder, names) {
  const version = (name) =>
    JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
  return Object.fromEntries(names.map((name) => [name, version(name)]));
}

/**
 * Writes the Markdown of one part of the benchmarks: to the build's folder or, with `intoDocs`, to its
 * section of docs/performance.md.
 * @returns {string} the file
 */
export function publish(root, part, report, intoDocs) {
  const markdown = wrapped(report);
  const folder = intoDocs ? join(root, "docs") : join(root, "build", "bench");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, intoDocs ? "performance.md" : `${part}.md`);
  writeFileSync(file, intoDocs ? replaced(file, part, markdown) : `${markdown}\n`);
  return file;
}

/** Returns the page with the part's section replaced. */
function replaced(file, part, markdown) {
  const page = existsSync(file) ? readFileSync(file, "utf8") : "";
  const heading = `## ${SECTIONS[part]}\n`;
  const sections = page.split(/^(?=## )/m);
  const place = sections.findIndex((section) => section.startsWith(heading));
  if (place === -1)
    throw new UserError(
      `\`${file}\` lacks the section of these tables: add the line \`${heading.trim()}\``,
    );
  const end = place === sections.length - 1 ? "\n" : "\n\n";
  return sections.with(place, `${heading}\n${markdown}${end}`).join("");
}
