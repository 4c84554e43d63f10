/**
 * Writes the package's TypeScript declarations. Each entry gets a file that is generated from its source and
 * keeps the doc comments that editors show.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * The prefix that marks an import of another entry point of the package. Such an import is kept, so that
 * each type is declared only once.
 */
const ENTRY = "entry:";

/**
 * Writes `{name}.d.ts` and `{name}.d.cts` for each entry.
 * @param {string} templates the folder of the sources @param {string} pkg the folder of the package
 * @param {Record<string, string>} sources the source file of each entry, by the entry's name
 */
export async function writeDeclarations(templates, pkg, sources) {
  const [{ rollup }, { dts }] = await Promise.all([import("rollup"), import("rollup-plugin-dts")]);
  const paths = Object.entries(sources).map(([name, source]) => [name, join(templates, source)]);
  const nameOf = new Map(paths.map(([name, path]) => [path, name]));
  const bundle = await rollup({
    input: Object.fromEntries(paths),
    external: (id) => id.startsWith(ENTRY) || /^[\w@]/.test(id),
    plugins: [otherEntries(nameOf), dts({ tsconfig: join(templates, "tsconfig.json") })],
  });
  const { output } = await bundle.generate({ entryFileNames: "[name].d.ts" });
  await bundle.close();
  const chunks = output.filter((file) => file.type === "chunk");
  const shared = chunks.find(({ isEntry }) => !isEntry);
  if (shared)
    throw new Error(
      `several entries share ${shared.fileName}: keep its types in one entry, and import them from there`,
    );
  for (const { fileName, code } of chunks) {
    const name = fileName.replace(/\.d\.ts$/, "");
    mkdirSync(dirname(join(pkg, fileName)), { recursive: true });
    for (const extension of ["ts", "cts"])
      writeFileSync(
        join(pkg, `${name}.d.${extension}`),
        withPaths(asDeclared(code), name, extension),
      );
  }
}

/**
 * Returns a plugin for rollup. If one entry imports another one, the plugin keeps the import, marked with the
 * prefix `ENTRY`.
 */
const otherEntries = (nameOf) => ({
  name: "other-entries",
  resolveId(source, importer) {
    const name = importer && nameOf.get(join(dirname(importer), source));
    return name ? { id: ENTRY + name, external: true } : undefined;
  },
});

/**
 * Adapts the code of a declaration. Removes `#private` members, so that tests can mock the classes. Makes the
 * constructor of `PledgeError` protected.
 */
const asDeclared = (code) =>
  code
    .replace(/^ +#private;\n/gm, "")
    .replace(
      /^(declare class PledgeError extends Error \{\n)/m,
      "$1    protected constructor();\n",
    );

/** Replaces the names of entries with the paths of their modules. */
function withPaths(code, name, extension) {
  const module = extension.replace("ts", "js");
  return code.replace(new RegExp(`["']${ENTRY}(.+?)["']`, "g"), (_, other) => {
    const path = relative(dirname(name), other).replaceAll("\\", "/");
    return `"${path.startsWith(".") ? "" : "./"}${path}.${module}"`;
  });
}
