/** The crate's own `operator` program, which makes and reads every record: the scripts hold no copy of formats and checks. */
import { x } from "tinyexec";
import { Stop, say } from "./report.mjs";

/** The answer to a command such as `new-key`. `input`: text, or what becomes JSON; what is wrong with it is a {@link Stop}. */
export async function operator({ root, native }, command, input = "") {
  const patience = setTimeout(() => say("building the operator's program, half a minute the first time"), 2_000);
  const program = x(native.cargo, ["run", "--quiet", "--bin", "operator", "--", command], { nodeOptions: { cwd: root, env: native.env } });
  program.process.stdin.on("error", () => {}); // it may have refused before it read all
  program.process.stdin.end(typeof input === "string" || Buffer.isBuffer(input) ? input : JSON.stringify(input));
  const { exitCode, stdout, stderr } = await program;
  clearTimeout(patience);
  if (exitCode !== 0) throw new Stop(stderr.trim() || `\`operator ${command}\` ended with ${exitCode}`);
  return JSON.parse(stdout);
}
