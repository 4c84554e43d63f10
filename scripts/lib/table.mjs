/** Text in columns. @param {string[]} heads @param {(string | undefined)[][]} rows */
export function table(heads, rows) {
  const lines = [heads, ...rows].map((line) => heads.map((_, column) => line[column] ?? ""));
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => [...line[column]].length)));
  const pad = (text, width) => text + " ".repeat(width - [...text].length);
  return lines.map((line) => line.map((text, column) => pad(text, widths[column])).join("  ").trimEnd()).join("\n");
}
