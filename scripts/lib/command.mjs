/**
 * Parses command lines with commander. If a command line is invalid, prints what is wrong, suggests a
 * correction of a likely typing error, and exits with code 2.
 */
import { createInterface } from "node:readline/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { openKv } from "./kv.mjs";
import { portOf } from "./operator.mjs";
import { UserError, guarded, jsonLine, placeInWords, terminal, visibleJson } from "./output.mjs";
import { progress } from "./progress.mjs";
import { calledAs, isClone, operatorTools } from "./places.mjs";

export { Argument, InvalidArgumentError, Option } from "commander";

/** The help text of the option `--yes`. */
export const YES = "skip the confirmation prompt";

/** Returns a function that parses a whole number from `least` to `most`. */
export function whole(least, most) {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

export const readMinutes = whole(1, 1440);

/**
 * A command that refuses to run if npm has taken some of its options. npm takes options that are not
 * preceded by `--`, and passes them on only as environment variables. This also happens in PowerShell,
 * which drops the `--`.
 */
class Program extends Command {
  /**
   * The names of options that this command does not know but passes on to another program.
   * @type {string[]}
   */
  others = [];
  terminal = guarded(terminal());
  /** The exit code if the command ends without an error. */
  exitCode = 0;

  /**
   * Runs a command line in this process.
   * @param {string[]} argv
   * @param {import("./output.mjs").Terminal} to
   * @returns {Promise<number>} the exit code
   */
  async run(argv, to) {
    this.terminal = guarded(to);
    this.exitCode = 0;
    await this.parseAsync(argv, { from: "user" });
    return this.exitCode;
  }

  /**
   * Adds a command. If its command line is wrong, the error names the help of this command alone.
   * @param {string} name
   * @param {any} [options] the ones of commander's commands
   * @returns {any}
   */
  command(name, options) {
    const line = super.command(name, options);
    return line.showHelpAfterError(seeHelp(`${this.name()} ${line.name()}`));
  }

  async parseAsync(argv = process.argv, options) {
    const { env } = this.terminal;
    const isByNpm = this.name()
      .split(" ")
      .includes(env.npm_lifecycle_event ?? "");
    const taken = isByNpm && takenByNpm(this, argv, env);
    if (taken)
      this.error(
        `npm took \`${taken}\` for itself, so nothing was done. Write \`${this.name()} …\` instead. In PowerShell, which drops \`--\`, write \`${this.name().replace("npm", "npm.cmd")} …\``,
      );
    return super.parseAsync(argv, options);
  }
}

/**
 * Returns the first option that npm took for itself instead of passing it to the command, or undefined.
 * Ignores an option that also reached the command: the user meant it for both.
 */
function takenByNpm(program, argv, env) {
  const options = [program, ...program.commands]
    .flatMap(({ options }) => options.map(({ long }) => long))
    .concat(program.others);
  const set = Object.keys(env).filter(
    (name) => /^npm_config_\w{2,}$/i.test(name) && !["", "false"].includes(env[name] ?? ""),
  );
  const taken = set.map(
    (name) => `--${name.slice("npm_config_".length).toLowerCase().replaceAll("_", "-")}`,
  );
  const passed = (option) => argv.some((text) => text === option || text.startsWith(`${option}=`));
  return taken.find((name) => options.some((option) => option.startsWith(name) && !passed(option)));
}

/** Returns the sentence that names a command's help. @param {string} name what the user types to call it */
const seeHelp = (name) =>
  `See \`${name.replace(/^(npm start|npm run \S+)(?: --)?(?= |$)/, "$1 --")} --help\`.`;

/** Creates a command. `name` is what the user types to call it. */
export function command(name, description) {
  const program = new Program(name);
  return program
    .description(description)
    .exitOverride()
    .showHelpAfterError(seeHelp(name))
    .configureOutput({
      writeOut: (text) => program.terminal.out(text),
      writeErr: (text) => program.terminal.err(text),
      outputError: (text, write) => write(text.replace(/^error: /, "")),
    });
}

/**
 * Asks for confirmation, unless the option `yes` is set. Throws if the answer is not `yes`, or if there is no
 * terminal.
 * @param {{question: string, yes?: boolean, otherwise: string}} about `question`: its last paragraph is the question; earlier
 *   paragraphs are shown before it. `otherwise`: what the error says, such as `nothing was revoked`
 * @param {import("./output.mjs").Terminal} terminal
 */
export async function confirm({ question, yes = false, otherwise }, { input, err }) {
  if (yes) return;
  const [asked, ...shown] = question.split("\n\n").reverse();
  for (const paragraph of shown.reverse()) err(`${paragraph}\n\n`);
  if (!input.isTTY)
    throw new UserError(
      `${asked} This was not confirmed, so ${otherwise}. To confirm without a prompt, pass \`--yes\``,
    );
  if ((await ask(`${asked} Type \`yes\`: `, { input, err })) !== "yes")
    throw new UserError(otherwise);
}

/**
 * Shows a question, and returns the first line that is typed, without blanks around it.
 * @param {string} question
 * @param {Pick<import("./output.mjs").Terminal, "input" | "err">} terminal
 */
export async function ask(question, { input, err }) {
  err(question);
  try {
    for await (const line of createInterface({ input })) return line.trim();
    return "";
  } finally {
    input.pause(); // an open terminal would keep the process running
  }
}

/**
 * Turns a command into one that works on records. Opens the namespace, and runs the command's action with
 * an object that has, among others, these members:
 *
 * - `kv` and `port`: the namespace, for scripts and for the operator's functions.
 * - `terminal`: the terminal.
 * - `print`: prints an answer and where the records are.
 * - `by`: returns the name for the audit log.
 *
 * `before` runs before the namespace is opened. With `isRecorded`, the audit log records the command, which
 * therefore has the option `--by`.
 * @param {any} command
 * @param {(at: any, ...args: any[]) => unknown} action
 * @param {{isRecorded?: boolean, before?: (at: any, ...args: any[]) => unknown}} [kind]
 */
export function onRecords(command, action, { isRecorded = false, before = () => {} } = {}) {
  if (isRecorded)
    command.option("--by <name>", "name for the audit log (default: the account's e-mail address)");
  const run = async (...args) => {
    const { remote, env: environment, persistTo, json, by: name } = command.opts();
    if (environment !== undefined && !remote)
      command.error("`--env` is for a deployed service: add `--remote`");
    const { terminal } = command.parent;
    const tools = operatorTools(terminal.env);
    await before({ tools }, ...args);
    const kv = terminal.kv ?? (await openKv(tools, { remote, environment, persistTo }));
    const print = (answer) => printAnswer(terminal, kv.place, answer, json);
    try {
      const port = portOf(kv, progress("records listed"));
      const by = async () => name ?? (await kv.user());
      return await action({ tools, kv, port, print, terminal, by }, ...args);
    } catch (error) {
      throw Object.assign(error, { place: kv.place });
    } finally {
      if (kv !== terminal.kv) await kv.close();
    }
  };
  return command
    .option(
      "--remote",
      `use the deployed service (default: the local service of \`${isClone ? "npm start" : calledAs("dev")}\`)`,
    )
    .option("--env <name>", "with --remote: the environment of wrangler.toml, such as `production`")
    .addOption(new Option("--persist-to <dir>", "folder of the local state").conflicts("remote"))
    .option("--json", "print JSON")
    .action(run);
}

/**
 * Prints the answer of a command, as text or as JSON.
 * @param {import("./output.mjs").Terminal} terminal
 * @param {any} place
 * @param {{data: string, text: string, isAside?: boolean}} answer `data`: a JSON object; `isAside`: prints the text to standard error, because standard output has something else
 * @param {boolean} json
 */
function printAnswer({ out, err }, place, { data, text, isAside = false }, json) {
  if (json)
    return out(
      `${jsonLine({ place }).slice(0, -1)}${data === "{}" ? "" : ","}${visibleJson(data.slice(1))}\n`,
    );
  return (isAside ? err : out)(`${placeInWords(place)}\n\n${text}\n`);
}
