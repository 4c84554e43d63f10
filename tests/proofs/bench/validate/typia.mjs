/** Compiles the check that typia generates from a type, as its plugin for TypeScript does. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BENCH = join(import.meta.dirname, "..");
const PACKAGES = join(BENCH, "node_modules"); // only there once the benchmark has run

/** Writes the check to where the benchmark imports it from. */
export async function compileTypia() {
  const { default: ts } = await import(join(PACKAGES, "typescript/lib/typescript.js"));
  const { default: transform } = await import(join(PACKAGES, "@typia/transform/lib/index.mjs"));
  const program = ts.createProgram([join(BENCH, "rivals", "typia-request.ts")], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    skipLibCheck: true,
    types: [],
  });
  const addDiagnostic = ({ messageText }) => {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
  };
  const folder = join(BENCH, "node_modules", "request-by-typia");
  mkdirSync(folder, { recursive: true });
  const write = (_, code) => writeFileSync(join(folder, "index.mjs"), code);
  program.emit(undefined, write, undefined, false, {
    before: [transform(program, {}, { addDiagnostic })],
  });
}
