/* Notices that npm, or another program that runs scripts, has ended, after it started this process. */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** The time between two checks, in milliseconds. */
const LOOK_MS = 500;
const SHELL = /^\s*(\d+)\s+\S*sh -c /;

/** Resolves when the program that started this process has ended. Never resolves if a person started the process. */
export async function starterEnded(): Promise<void> {
  if (!process.env.npm_execpath) return new Promise(() => {});
  const { ppid } = process,
    starter = starterBehind(ppid);
  while (process.ppid === ppid && isRunning(starter))
    await sleep(LOOK_MS, undefined, { ref: false });
}

/**
 * Returns the process that started a shell, because the shell of npm may outlive npm. Returns any other process
 * itself.
 */
function starterBehind(pid: number): number {
  try {
    const line = execFileSync("ps", ["-o", "ppid=,args=", "-p", `${pid}`], { encoding: "utf8" });
    return Number(line.match(SHELL)?.[1] ?? pid);
  } catch {
    return pid; // there is no `ps`, as on Windows
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
