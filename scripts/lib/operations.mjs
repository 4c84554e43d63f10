/**
 * The operator's commands, built from the table of operations in `src/office/operations.rs`. The commands read
 * this table from the generated file `operations.json`, so that a command line and its help need no
 * WebAssembly.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import {
  Argument,
  InvalidArgumentError,
  Option,
  YES,
  command,
  confirm,
  onRecords,
} from "./command.mjs";
import { beginFile } from "./new-file.mjs";
import { operator, userError } from "./operator.mjs";
import { UserError, fileProblem, placeInWords } from "./output.mjs";
import { calledAs } from "./places.mjs";
import { openQueue } from "./queue.mjs";

/**
 * @typedef {{name: string, help: string, kind: string, what?: string, choices?: string[], isOption: boolean, isRequired: boolean, isRepeatable: boolean, default: string | null, reveals: boolean}} Listed
 *   an argument of an operation
 * @typedef {{group: string, name: string, about: string, answers: string, arguments: Listed[], changes: boolean, corrects: boolean, reveals: boolean, isRecorded: boolean, confirms: boolean, queues: boolean, note: string}} Spec
 *   an operation
 * @typedef {{group: string, about: string, operations: Spec[]}} Group operations that belong together, such
 *   as `keys`
 * @typedef {{data: string, text: string, exitCode: number, isAside: boolean}} Answer `data`: a JSON object
 */

/** @type {Group[]} */
const TABLE = JSON.parse(readFileSync(join(import.meta.dirname, "operations.json"), "utf8"));

/** All operations, in the order of the table. */
export const operations = TABLE.flatMap((group) => group.operations);

/** The names of the groups of operations, such as `keys`. */
export const groups = TABLE.map(({ group }) => group);

/** What each group of operations is about, for a help text. @type {Record<string, string>} */
export const groupsAbout = Object.fromEntries(TABLE.map(({ group, about }) => [group, about]));

/** Returns the commands of a group. @param {string} group */
export function commandsOf(group) {
  const found = TABLE.find((one) => one.group === group);
  if (!found)
    throw new UserError(
      `there is no group of commands \`${group}\`; the groups are: ${groups.join(", ")}`,
    );
  const program = command(calledAs(group), `${found.about}.`);
  for (const spec of found.operations) addOperation(program, spec);
  return program;
}

function addOperation(program, spec) {
  const line = program.command(spec.name).description(spec.about);
  for (const argument of spec.arguments)
    if (argument.isOption) line.addOption(optionOf(argument));
    else line.addArgument(argumentOf(argument));
  if (spec.confirms) line.option("--yes", YES);
  if (spec.changes)
    line.option(
      "--operation-id <id>",
      "an ID that makes the command safe to retry: with the same ID, the change is made only once",
    );
  if (spec.queues)
    line.addOption(
      new Option("--origin <url>", "address of the local service")
        .conflicts("remote")
        .argParser(readUrl),
    );
  if (spec.note) line.addHelpText("after", `\n${spec.note}`);
  const given = (words) => argumentsOf(spec, words, line.opts());
  const orUsage = (error) => {
    if (error?.usage) wrongUsage(line, error.usage);
    throw error;
  };
  const before = async ({ tools }, ...words) => {
    const { check } = await operator(tools);
    await check(spec.group, spec.name, given(words)).catch(orUsage);
  };
  const action = async (at, ...words) => {
    const runner = new Runner(at, line.opts());
    const answer = await runner.run(spec, given(words)).catch(orUsage);
    program.exitCode = answer.exitCode;
  };
  onRecords(line, action, { isRecorded: spec.isRecorded, before });
}

/**
 * Ends a command because of a wrong argument. With `--json`, the printed error names the argument.
 * @param {any} line the command
 * @param {import("./operator.mjs").Refused} refused
 */
function wrongUsage(line, refused) {
  try {
    line.error(refused.message);
  } catch (error) {
    throw Object.assign(/** @type {Error} */ (error), { refused });
  }
}

const VALUES = {
  month: "month",
  day: "day",
  time: "date",
  number: "count",
  duration: "time",
  input: "file",
  output: "file",
};

function optionOf({ name, help, kind, what, choices, isRequired, isRepeatable, default: value }) {
  const word = choices ? name : (what ?? VALUES[kind]);
  const option = new Option(kind === "flag" ? `--${name}` : `--${name} <${word}>`, help);
  if (choices) option.choices(choices);
  if (isRepeatable)
    option.argParser((text, before) => [...(Array.isArray(before) ? before : []), text]);
  if (value) option.default(value);
  return option.makeOptionMandatory(isRequired);
}

function argumentOf({ name, help, choices, isRequired, isRepeatable }) {
  const word = isRepeatable ? `${name}...` : name;
  const argument = new Argument(isRequired ? `<${word}>` : `[${word}]`, help);
  return choices ? argument.choices(choices) : argument;
}

function readUrl(text) {
  if (URL.canParse(text)) return text;
  throw new InvalidArgumentError("Give an address such as http://127.0.0.1:8787.");
}

/**
 * Returns the arguments of a command line as JSON, under their names in the table of operations.
 * @param {Spec} spec
 */
function argumentsOf(spec, words, options) {
  const positions = spec.arguments.filter(({ isOption }) => !isOption);
  const values = spec.arguments.map((argument) => [
    argument.name,
    argument.isOption ? options[camelCase(argument.name)] : words[positions.indexOf(argument)],
  ]);
  return JSON.stringify(Object.fromEntries(values));
}

const camelCase = (name) => name.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase());

// ---- Run -----------------------------------------------------------------------------------------

/**
 * Runs an operation for a command. Its methods are the functions that the operation calls, as `Program` in
 * `src/doors/commands/run.rs` declares them.
 */
class Runner {
  #at;
  #options;
  #queue;
  #file;
  #write;

  constructor(at, options) {
    this.#at = at;
    this.#options = options;
    this.records = at.port;
    this.place = placeInWords(at.kv.place);
    this.person = at.by;
    this.operationId = options.operationId;
  }

  /** @param {Spec} spec @param {string} given JSON @returns {Promise<Answer>} */
  async run({ group, name }, given) {
    const { tools, print } = this.#at;
    const { run } = await operator(tools);
    try {
      const answer = await run(this, group, name, given);
      await this.#file?.finish();
      print(answer);
      return answer;
    } catch (error) {
      if (error?.problem === undefined) throw error;
      throw this.#partial(error);
    } finally {
      await this.#file?.close();
    }
  }

  /**
   * Returns the error of an operation that did only a part of its work. Prints the result of this part or, with
   * `--json`, adds the result to the error's JSON.
   */
  #partial({ problem, answer }) {
    if (!this.#options.json) this.#at.print(answer);
    return Object.assign(userError(problem), { data: JSON.parse(answer.data) });
  }

  confirm = (question, otherwise) =>
    confirm({ question, yes: this.#options.yes, otherwise }, this.#at.terminal);

  async read(file) {
    if (file === "-") return buffer(this.#at.terminal.input);
    return readFile(file).catch((error) => {
      throw fileProblem(file, error);
    });
  }

  async create(file) {
    if (file !== undefined) {
      this.#file = await beginFile(file);
      this.#write = (text) => this.#file.output.writeFile(text);
      return;
    }
    if (this.#options.json)
      throw new UserError(
        "with `--json`, standard output is used for the JSON: also name a file for the other output",
      );
    this.#write = this.#at.terminal.out;
  }

  write = async (text) => this.#write(text);
  note = (text) => this.#at.terminal.err(`${text}\n`);

  async openQueue() {
    const { tools, kv, terminal } = this.#at;
    const { origin = `http://127.0.0.1:${terminal.env.PORT || 8787}` } = this.#options;
    this.#queue = await openQueue(tools, kv.place, origin);
  }

  put = (message) => this.#queue.put(message);
}

/**
 * Runs an operation for another command, without a prompt.
 * @param {any} tools @param {import("./operator.mjs").Port} port
 * @param {string} group @param {string} name
 * @param {Record<string, unknown>} [asked] arguments by their names, and `by`: the name for the audit log
 * @returns {Promise<any>} the data of its answer
 */
export async function operate(tools, port, group, name, { by, ...asked } = {}) {
  const { run } = await operator(tools);
  const program = { records: port, place: "", person: async () => by, confirm: async () => {} };
  const { data } = await run(program, group, name, JSON.stringify(asked));
  return JSON.parse(data);
}
