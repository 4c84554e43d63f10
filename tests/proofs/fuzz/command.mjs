/** `npm run fuzz [-- --minutes 1] [target…]`: runs every fuzz target on new inputs, with cargo-fuzz. */
import { mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { withCargoTool } from "../cargo-tool.mjs";
import { command, readMinutes } from "../../../scripts/lib/command.mjs";
import { prepareTools } from "../../../scripts/setup/tools.mjs";
import { log } from "../../../scripts/lib/output.mjs";
import { run } from "../../../scripts/lib/run.mjs";

const ABOUT = `Runs libFuzzer with new inputs on every fuzz target of the service and the client, on all processors. It needs a C++ compiler. It
ends at an input that fails, and prints where the input is and how to run it again.`;
const FOLDER = "tests/proofs/fuzz";
const LIMITS = [
  "-max_len=4096",
  "-timeout=20",
  "-rss_limit_mb=1024",
  `-dict=${FOLDER}/contract.dict`,
];

const program = command("npm run fuzz --", ABOUT)
  .argument("[targets...]", "such as `bytes`; none means all")
  .option("--minutes <n>", "how long for each target", readMinutes, 1);

program.action(async (names, { minutes }) => {
  const tools = await prepareTools();
  const { root, native } = tools;
  const all = readdirSync(join(root, FOLDER, "src", "bin")).map((file) => basename(file, ".rs"));
  const unknown = names.find((name) => !all.includes(name));
  if (unknown) program.error(`there is no target \`${unknown}\`; name one of: ${all.join(", ")}`);
  const env = await withCargoTool(tools, "cargo-fuzz", "0.13.2");
  for (const target of names.length > 0 ? names : all) {
    log(`${target}: ${minutes} min`);
    await play(target, minutes, { root, cargo: native.cargo, env });
  }
});

/**
 * Runs one fuzz target. Keeps new inputs in the folder `found` for the next run. People add inputs to the
 * corpus by hand.
 */
function play(target, minutes, { root, cargo, env }) {
  const [found, corpus] = ["found", "corpus"].map((folder) => `${FOLDER}/${folder}/${target}`);
  mkdirSync(join(root, found), { recursive: true });
  const jobs = ["--jobs", String(availableParallelism())];
  // The other sanitizers need a nightly Rust, and find nothing in safe code.
  const fuzz = ["fuzz", "run", "--fuzz-dir", FOLDER, "--sanitizer", "none", ...jobs];
  const limits = [`-max_total_time=${minutes * 60}`, ...LIMITS];
  return run(cargo, [...fuzz, target, found, corpus, "--", ...limits], {
    cwd: root,
    env,
    show: true,
  });
}

await program.parseAsync();
