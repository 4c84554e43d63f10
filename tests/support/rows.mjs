/**
 * Reads the test rows for the validation rules and for forms. Also builds a script that runs all rows in an
 * engine without platform functions.
 */
import { join } from "node:path";
import { build } from "esbuild";
import { fixturesIn } from "./fixtures.mjs";

/**
 * Returns each row of the validation rules with its bytes. If JSON can express the row's value, the row also
 * has its JSON text.
 */
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
 * Bundles a script that calls `report` with the rows that fail, as JSON.
 * @param {string} folder a project in which the package is installed
 * @param {{validate: string, form: string, report: string}} entries `validate` and `form`: two entries of the package;
 *   `report`: the name of the function that the script calls
 * @param {import("esbuild").BuildOptions} options esbuild's options, with which it finds the entries
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
