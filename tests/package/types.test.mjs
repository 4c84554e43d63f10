/** Compiles the declarations of the packed package as users do: strict, as ESM, as CommonJS, and for a bundler. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import ts from "typescript";
import { compiled, problems } from "./compile.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const root = join(import.meta.dirname, "..", "..");
const sources = join(root, "tests", "types");
const home = join(project.folder, "node_modules", "impact-pledge");

const WEB = ["es2022", "dom", "dom.iterable"];
const EXACT = { exactOptionalPropertyTypes: true, verbatimModuleSyntax: true };
/**
 * The kinds of compilation, by name. Each has the folder of the source files, their extension, and compiler
 * options. Server code is compiled without the types of the DOM.
 */
const KINDS = {
  "node16, ESM": [".", "mts", { module: "node16", lib: WEB, ...EXACT }],
  "node16, CommonJS": [".", "cts", { module: "node16", lib: WEB }],
  bundler: [".", "ts", { module: "esnext", moduleResolution: "bundler", lib: WEB, ...EXACT }],
  "a server, for a bundler": [
    "server",
    "ts",
    { module: "esnext", moduleResolution: "bundler", lib: ["es2022"] },
  ],
  "a server, as ESM": ["server", "mts", { module: "node16", lib: ["es2022"], ...EXACT }],
};

for (const [kind, [part, extension, options]] of Object.entries(KINDS)) {
  test(`valid uses compile, and invalid uses don't: ${kind}`, () => {
    const folder = join(project.folder, `types-${kind.replaceAll(/\W+/g, "-")}`);
    mkdirSync(folder, { recursive: true });
    const names = readdirSync(join(sources, part)).filter((name) => name.endsWith(".ts"));
    assert.ok(names.length > 0);
    const files = names.map((name) => name.replace(/ts$/, extension));
    for (const [index, name] of names.entries())
      copyFileSync(join(sources, part, name), join(folder, files[index]));
    assert.equal(problems(compiled(folder, files, options)), "");
  });
}

test("libraries infer the request's type from the schema", () => {
  const paths = {
    "impact-pledge/*": [join(home, "*.d.ts")],
    "react-hook-form": [join(root, "node_modules", "react-hook-form")], // our types import it, too
  };
  const options = { module: "esnext", moduleResolution: "bundler", lib: WEB, paths };
  const folder = join(import.meta.dirname, "..", "consumers");
  for (const exactOptionalPropertyTypes of [true, false]) {
    const program = compiled(folder, ["types.ts", "use-form.ts"], {
      ...options,
      skipLibCheck: true,
      exactOptionalPropertyTypes,
    });
    assert.equal(problems(program), "");
  }
});

test("no declaration has `any`, and every export has a doc comment for editors", () => {
  const declarations = readdirSync(home, { encoding: "utf8", recursive: true }).filter((name) =>
    /\.d\.[cm]?ts$/.test(name),
  );
  for (const name of declarations) {
    const code = readFileSync(join(home, name), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    assert.doesNotMatch(code, /\bany\b/, name);
  }
  const entries = declarations.filter((name) => name.endsWith(".d.ts"));
  const options = { module: "esnext", moduleResolution: "bundler", lib: WEB };
  const program = compiled(home, entries, options);
  const checker = program.getTypeChecker();
  const declared = (symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = entries.flatMap((name) => {
    const file = checker.getSymbolAtLocation(program.getSourceFile(join(home, name)));
    return checker.getExportsOfModule(file).map((symbol) => ({ name, symbol: declared(symbol) }));
  });
  assert.ok(exported.length > 150, `${exported.length}`);
  const silent = exported.filter(
    ({ symbol }) => symbol.getDocumentationComment(checker).length === 0,
  );
  assert.deepEqual(
    silent.map(({ name, symbol }) => `${name}: ${symbol.name}`),
    [],
  );
});
