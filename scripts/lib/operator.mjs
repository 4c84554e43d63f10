/**
 * The crate's own `operator` program, which makes and reads every record: the scripts hold no second copy of the
 * formats and checks. It is built when it is first asked.
 */
import { spawn } from "node:child_process";
import { Stop, say, tail } from "./report.mjs";
import { run } from "./run.mjs";

const LONG_BUILD_MS = 2_000;
const builds = new Map();

/**
 * @param {import("./ready.mjs").Tools} tools
 * @param {string} command such as `new-key`
 * @param {string | Buffer | object} [input] text, or what becomes JSON
 * @returns {Promise<any>} its answer; what is wrong with the input is a {@link Stop}
 */
export async function operator(tools, command, input = "") {
  if (!builds.has(tools.root)) builds.set(tools.root, build(tools));
  const program = await builds.get(tools.root);
  const { code, output, problem } = await feed(program, command, typeof input === "string" || Buffer.isBuffer(input) ? input : JSON.stringify(input));
  if (code !== 0) throw new Stop(problem.trim() || `\`${program} ${command}\` ended with ${code}`);
  return JSON.parse(output);
}

/** @returns {Promise<string>} the program's path, as cargo tells it */
async function build({ root, native }) {
  const patience = setTimeout(() => say("building the operator's program, half a minute the first time"), LONG_BUILD_MS);
  const args = ["build", "--quiet", "--bin", "operator", "--message-format", "json-render-diagnostics"];
  const { ok, why, output } = await run(native.cargo, args, { cwd: root, env: native.env, name: "cargo build", show: false });
  clearTimeout(patience);
  if (!ok) throw new Stop(`the operator's program can't be built (${why}):\n${tail(output, 20)}`);
  const messages = output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return messages.find(({ target, executable }) => executable && target.name === "operator").executable;
}

function feed(program, command, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [command], { stdio: ["pipe", "pipe", "pipe"] });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (texts[name] += text));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output: texts.stdout, problem: texts.stderr }));
    child.stdin.on("error", () => {}); // it may have refused before it read all
    child.stdin.end(input);
  });
}
