/** Child processes with all that they start: none of them outlives this process. */
import { spawn, spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const GRACE_MS = 5_000;
const windows = process.platform === "win32";

/**
 * Starts a Node script in a process group of its own: Ctrl-C then reaches this process alone, which ends the group
 * in order.
 * @param {string[]} args @param {import("node:child_process").SpawnOptions} options
 * @returns {{child: import("node:child_process").ChildProcess, ended: Promise<string | 0>, end: () => Promise<void>}}
 *   `ended`: 0, or how else it ended
 */
export function startGroup(args, options) {
  const child = spawn(process.execPath, args, { ...options, detached: !windows });
  const ended = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (code, signal) => resolve(code === 0 ? 0 : signal ? `was ended by ${signal}` : `exited with ${code}`));
  });
  const kill = () => child.pid && killGroup(child.pid);
  process.on("exit", kill);
  const end = async () => {
    child.kill("SIGTERM");
    await Promise.race([ended, sleep(GRACE_MS, undefined, { ref: false })]);
    kill();
    process.off("exit", kill);
  };
  return { child, ended, end };
}

/** At once, for the end of this process: the packages that kill trees take their time. */
function killGroup(pid) {
  if (windows) return spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" });
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error; // all have ended
  }
}
