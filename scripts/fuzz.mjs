/** `npm run fuzz [-- --minutes 1] [door…]`: new inputs for every door that untrusted data comes by, by cargo-fuzz. */
import { mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { command, readMinutes } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { log } from "./lib/output.mjs";
import { run } from "./lib/run.mjs";

const ABOUT = `New inputs for every door of the service and of the client, by libFuzzer on all processors. It needs a C++ compiler and
cargo-fuzz (\`cargo install cargo-fuzz --locked\`). It ends at an input that fails, and prints where the input is and how to play
it again.`;
const LIMITS = ["-max_len=4096", "-timeout=20", "-rss_limit_mb=1024", "-dict=fuzz/contract.dict"];

const program = command("npm run fuzz --", ABOUT)
  .argument("[doors...]", "such as `json`; none means all")
  .option("--minutes <n>", "how long for each door", readMinutes, 1);

program.action(async (names, { minutes }) => {
  const { root, native } = await prepareTools();
  const all = readdirSync(join(root, "fuzz", "src", "bin")).map((file) => basename(file, ".rs"));
  const unknown = names.find((name) => !all.includes(name));
  if (unknown) program.error(`there is no door \`${unknown}\`; name one of: ${all.join(", ")}`);
  for (const door of names.length > 0 ? names : all) {
    log(`${door}: ${minutes} min`);
    await play(door, minutes, { root, native });
  }
});

/** New inputs are kept in `found`, for the next run; the corpus itself grows by hand. */
function play(door, minutes, { root, native }) {
  const [found, corpus] = ["found", "corpus"].map((folder) => join("fuzz", folder, door));
  mkdirSync(join(root, found), { recursive: true });
  // The other sanitizers take a nightly Rust, and find nothing in safe code.
  const cargo = ["fuzz", "run", "--sanitizer", "none", "--jobs", String(availableParallelism())];
  const fuzzer = [`-max_total_time=${minutes * 60}`, ...LIMITS];
  return run(native.cargo, [...cargo, door, found, corpus, "--", ...fuzzer], {
    cwd: root,
    env: native.env,
    show: true,
  });
}

await program.parseAsync();
