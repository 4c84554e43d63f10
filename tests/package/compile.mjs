/**
 * Runs the TypeScript compiler in this process. Files that several compilations share are read only once.
 */
import { join } from "node:path";
import ts from "typescript";
import { strictFlags } from "../support/strict-flags.mjs";

/** @type {Map<string, ts.SourceFile | undefined>} */
const sources = new Map();

/**
 * Compiles files as in a user's strict project. The platform's own declarations are not checked.
 * @param {string} folder the project's folder
 * @param {string[]} files the files to compile
 * @param {object} options the compiler options, as in a tsconfig.json
 * @returns {ts.Program}
 */
export function compiled(folder, files, options) {
  const { options: parsed } = ts.convertCompilerOptionsFromJson(
    { ...strictFlags(), skipDefaultLibCheck: true, ...options },
    folder,
  );
  const host = ts.createCompilerHost(parsed);
  const { getSourceFile } = host;
  host.getSourceFile = (name, version, ...rest) => {
    const key = `${name} ${JSON.stringify(version)}`;
    if (!sources.has(key)) sources.set(key, getSourceFile(name, version, ...rest));
    return sources.get(key);
  };
  host.getCurrentDirectory = () => folder;
  return ts.createProgram(
    files.map((file) => join(folder, file)),
    parsed,
    host,
  );
}

/** Returns the compiler's errors, as it prints them. @param {ts.Program} program */
export const problems = (program) =>
  ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => program.getCurrentDirectory(),
    getNewLine: () => "\n",
  });
