/** `npm run format`: `cargo fmt --all` formats the Rust code; Biome formats all other code and applies its safe fixes. */
import { join } from "node:path";
import { command } from "./lib/command.mjs";
import { run } from "./lib/run.mjs";
import { prepareTools } from "./setup/tools.mjs";

await command("npm run format --", "Formats all code and applies the linter's safe fixes.")
  .action(async () => {
    const { root, native } = await prepareTools({ lint: true });
    const biome = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
    const options = { cwd: root, env: native.env, show: true };
    await run(native.cargo, ["fmt", "--all"], options);
    await run(process.execPath, [biome, "check", "--write", "."], options);
  })
  .parseAsync();
