/** `npm run deploy [-- wrangler's options]`: the Worker to the account that wrangler is logged in to. */
import { spawnSync } from "node:child_process";
import { ready } from "./lib/ready.mjs";

const { root, env, wrangler } = await ready();
const { status } = spawnSync(process.execPath, [wrangler, "deploy", ...process.argv.slice(2)], { cwd: root, env, stdio: "inherit" });
process.exitCode = status ?? 1;
