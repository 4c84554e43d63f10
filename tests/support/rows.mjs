/**
 * The rows of the rules and of forms, and a script that tries them all where there is nothing but
 * the language.
 */
import { join } from "node:path";
import { build } from "esbuild";
import { fixturesIn } from "./fixtures.mjs";

/** Each row with its bytes, and with its value as JSON where one can stand for it. */
const ruleRows = () =>
  fixturesIn("validation")
    .flatMap(({ rows }) => rows)
    .map(({ name, only, hex, json, value, issues }) => {
      const bytes =
        hex === undefined ? Buffer.from(json ?? JSON.stringify(value)) : Buffer.from(hex, "hex");
      return {
        name,
        issues,
        bytes: [...bytes],
        json: only === "bytes" ? undefined : bytes.toString(),
      };
    });

/**
 * A script that calls `report` with the rows that are wrong, as JSON.
 * @param {string} folder a project in which the package is installed
 * @param {{validate: string, form: string, report: string}} entries names of the package's, and of the function
 * @param {import("esbuild").BuildOptions} options by which the entries are found
 */
export async function rowsScript(folder, { validate, form, report }, options) {
  const rows = JSON.stringify({
    rules: ruleRows(),
    forms: fixturesIn("form").flatMap(({ rows = [] }) => rows),
  });
  const contents = `
    import * as rules from "${validate}";
    import { readForm, ready } from "${form}";
    import { triedRows } from ${JSON.stringify(join(import.meta.dirname, "tried-rows.mjs"))};
    ready().then(() => ${report}(JSON.stringify(triedRows(rules, readForm, JSON.parse(${JSON.stringify(rows)})))));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    format: "iife",
    ...options,
    write: false,
  });
  return outputFiles[0].text;
}
