/**
 * The declarations of the packed package, compiled as users compile: strict, as ESM, CommonJS and
 * for a bundler.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import test from "node:test";
import ts from "typescript";
import { packed } from "./packed.mjs";

const root = join(import.meta.dirname, "..", "..");
const project = await packed();
const sources = join(root, "tests", "types");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: "ES2022",
  types: [],
};
/** By folders of sources. A server's code may be compiled without the DOM's types. */
const LIBS = { "": ["ES2022", "DOM", "DOM.Iterable"], server: ["ES2022"] };
const KINDS = {
  "node16, ESM": { extension: "mts", module: "Node16", moduleResolution: "Node16" },
  "node16, CommonJS": { extension: "cts", module: "Node16", moduleResolution: "Node16" },
  bundler: { extension: "ts", module: "ESNext", moduleResolution: "Bundler" },
};

for (const [kind, { extension, ...resolution }] of Object.entries(KINDS)) {
  for (const exactOptionalPropertyTypes of [true, false]) {
    for (const [part, lib] of Object.entries(LIBS)) {
      test(`${kind}, exact optional members ${exactOptionalPropertyTypes ? "on" : "off"}, lib ${lib}`, () => {
        const folder = join(
          project.folder,
          `types-${part}-${extension}-${exactOptionalPropertyTypes}`,
        );
        mkdirSync(folder, { recursive: true });
        const names = readdirSync(join(sources, part)).filter((name) => name.endsWith(".ts"));
        assert.ok(names.length > 0);
        const files = names.map((name) => copy(join(sources, part, name), folder, extension));
        const compilerOptions = { ...STRICT, ...resolution, lib, exactOptionalPropertyTypes };
        writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
        const { status, stdout } = spawnSync(process.execPath, [tsc, "--project", folder], {
          encoding: "utf8",
        });
        assert.equal(status, 0, stdout);
      });
    }
  }
}

function copy(source, folder, extension) {
  const file = basename(source).replace(/\.ts$/, `.${extension}`);
  writeFileSync(join(folder, file), readFileSync(source));
  return file;
}

test("no declaration says `any`", () => {
  const folder = join(project.folder, "node_modules", "impact-pledge");
  const declarations = readdirSync(folder, { recursive: true }).filter((name) =>
    /\.d\.[cm]?ts$/.test(name),
  );
  assert.ok(declarations.length >= 4, `${declarations}`);
  for (const name of declarations) {
    const code = readFileSync(join(folder, name), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    assert.doesNotMatch(code, /\bany\b/, name);
  }
});

test("every export says what it is, as editors show it", () => {
  const folder = join(project.folder, "node_modules", "impact-pledge");
  const entries = readdirSync(folder, { encoding: "utf8", recursive: true }).filter((name) =>
    /\.d\.ts$/.test(name),
  );
  const program = ts.createProgram(
    entries.map((name) => join(folder, name)),
    {
      target: ts.ScriptTarget.ES2022,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
    },
  );
  const checker = program.getTypeChecker();
  const exported = entries.flatMap((name) => {
    const file = checker.getSymbolAtLocation(program.getSourceFile(join(folder, name)));
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

  function declared(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }
});
