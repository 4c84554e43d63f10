/**
 * `node scripts/types.mjs`: type-checks the files that jsconfig.json names. Unlike `tsc`, it does not check
 * excluded files or generated JavaScript that these files import.
 */
import { join } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
const configured = ts.getParsedCommandLineOfConfigFile(
  join(root, "jsconfig.json"),
  {},
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic({ messageText }) {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
    },
  },
);
if (!configured) throw new Error("jsconfig.json can't be read");

const program = ts.createProgram(configured.fileNames, configured.options);
const ofFiles = configured.fileNames.flatMap((name) =>
  ts.getPreEmitDiagnostics(program, program.getSourceFile(name)),
);
const problems = ts.sortAndDeduplicateDiagnostics([...configured.errors, ...ofFiles]);
console.log(
  ts.formatDiagnostics(problems, {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name) => name,
    getNewLine: () => ts.sys.newLine,
  }),
);
console.log(`${configured.fileNames.length} files checked`);
process.exitCode = problems.length > 0 ? 1 : 0;
