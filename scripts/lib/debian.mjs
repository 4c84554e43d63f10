/** Debian's packages: for machines that reach no other source of tools. Needs root, or a sudo that asks nothing. */
import { Unavailable, say, tail } from "./report.mjs";
import { ask, run, which } from "./run.mjs";

/** The command line before `apt-get`, or null where packages can't be installed. */
function privilege() {
  if (!which("apt-get")) return null;
  if (process.getuid?.() === 0) return [];
  return which("sudo") && ask("sudo", ["-n", "true"], { timeout: 5_000 }) !== null ? ["sudo", "-n"] : null;
}

export const debianWorks = () => privilege() !== null;

/** Does Debian offer a package of this name? */
export const debianHas = (name) => /^ {2}Candidate: (?!\(none\))/m.test(ask("apt-cache", ["policy", name], { env: plain() }) ?? "");

/**
 * @param {string} what the tool that the packages bring, for messages
 * @param {string[]} packages
 */
export async function installDebian(what, packages) {
  const before = privilege();
  const byHand = `run \`apt-get install ${packages.join(" ")}\` as root, then this again`;
  if (!before) throw new Unavailable(what, which("apt-get") ? "this user is not root and sudo asks for a password" : "there is no `apt-get`", byHand);
  await aptGet(before, ["update"]); // lists may be stale or not there at all; the install tells if that matters
  const { ok, why, output } = await aptGet(before, ["install", "--yes", "--no-install-recommends", ...packages]);
  if (!ok) throw new Unavailable(what, `${why}: ${tail(output, 2)}`, byHand);
}

function aptGet(before, args) {
  const options = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=2"];
  const [command, ...rest] = [...before, "apt-get", ...options, ...args];
  say(`    apt-get ${args.join(" ")}`);
  return run(command, rest, { env: plain(), name: "apt-get" });
}

const plain = () => ({ ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" });
