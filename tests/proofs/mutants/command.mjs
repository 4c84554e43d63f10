/**
 * `npm run mutants`: cargo-mutants makes one change to the code at a time, and the Rust tests must detect each
 * change.
 */
import { command } from "../../../scripts/lib/command.mjs";
import { withCargoTool } from "../cargo-tool.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { prepareTools } from "../../../scripts/setup/tools.mjs";

const ABOUT = `Changes one thing at a time in the code on which it depends that no data is lost or doubled, and runs the Rust tests, which must
find it. .cargo/mutants.toml says what is changed, and what no test can find.`;

const ONLY_TIMEOUTS = 3; // exit code of cargo-mutants: all were found, some because the tests ran into an endless loop

const program = command("npm run mutants --", ABOUT)
  .option("--shard <k/n>", "only the k-th of n parts, counted from 0")
  .option("--file <path>", "only the mutants of this file");

program.action(async ({ shard, file }) => {
  const tools = await prepareTools();
  const env = await withCargoTool(tools, "cargo-mutants", "27.1.0");
  const args = ["mutants", "--no-shuffle", "--output", "build/mutants"];
  if (shard) args.push("--shard", shard);
  if (file) args.push("--re", `^${file.replaceAll(".", "\\.")}:`); // `--file` would add to those of the configuration
  await run(tools.native.cargo, args, { cwd: tools.root, env, show: true }).catch((error) => {
    if (error.exitCode !== ONLY_TIMEOUTS) throw error;
  });
});
await program.parseAsync();
