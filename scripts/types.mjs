/** `node scripts/types.mjs`: checks the types of the files that jsconfig.json names, as `tsc` does, but not of the files that they import. */
import { join } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
const host = {
  getCurrentDirectory: () => root,
  getCanonicalFileName: (name) => name,
  getNewLine: () => ts.sys.newLine,
};

/** @returns {readonly ts.Diagnostic[]} */
function problems() {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(
    join(root, "jsconfig.json"),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => errors.push(problem) },
  );
  const program = ts.createProgram(fileNames, options);
  const ofFiles = fileNames.map((name) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(name)),
  );
  return [...errors, ...ofFiles.flat()];
}

const found = ts.sortAndDeduplicateDiagnostics(problems());
console.log(ts.formatDiagnostics(found, host));
process.exitCode = found.length > 0 ? 1 : 0;
