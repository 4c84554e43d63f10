#!/usr/bin/env node
/* The program `impact-pledge`. Each command loads only the entries of the package that it needs. */
import { parseArgs } from "node:util";
import { VERSION } from "#version";
import { suggest } from "../suggest.ts";
import { create, get } from "./calls.ts";
import { validate } from "./check.ts";
import { Stop, printable } from "./output.ts";
import { serve } from "./serve.ts";

interface Option {
  readonly type: "boolean" | "string";
  readonly short?: string;
  /** The name of the option's value in the help text. */
  readonly value?: string;
  readonly about: string;
}

interface Command {
  readonly usage: string;
  readonly about?: string;
  readonly more?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** The maximum number of arguments other than options. */
  readonly most: number;
  /** Runs the command and returns the exit status. */
  readonly run?: (options: object, args: readonly string[]) => Promise<number>;
}

const COMMANDS: Record<string, Command> = {
  validate: {
    usage: "validate [FILE]",
    about: "Validates a request, and prints each problem with line and column",
    more: "FILE contains JSON. Without FILE, or with `-`, the command reads standard input.\nExit status: 0 if the request is valid, 1 if it has problems, 2 if it can't be read.",
    options: {
      json: {
        type: "boolean",
        about: "print the issues as JSON: path, pointer, code, message, meta, line, column",
      },
    },
    most: 1,
    run: validate,
  },
  create: {
    usage: "create [FILE]",
    about: "Creates a pledge transaction, and prints it",
    more: "FILE is the same as for `validate`. Set the key as the environment variable PLEDGE_API_KEY, and the service's\naddress as PLEDGE_BASE_URL. For a team-level key, also set the unit as PLEDGE_UNIT_ID.",
    options: {
      "idempotency-key": {
        type: "string",
        value: "KEY",
        about:
          "an idempotency key of your choice: with the same key, a repeated command records only one transaction",
      },
    },
    most: 1,
    run: create,
  },
  get: {
    usage: "get ID",
    about: "Prints a pledge transaction",
    more: "The command reads the same environment variables as `create`.",
    options: {},
    most: 1,
    run: get,
  },
  serve: {
    usage: "serve",
    about: "Runs the service on this machine, with development keys",
    more: "The service keeps its data in memory. The data is lost when you stop the service with Ctrl-C.",
    options: {
      port: {
        type: "string",
        value: "PORT",
        about: "default: the variable PORT, or 8787; 0 chooses a free port",
      },
    },
    most: 0,
    run: serve,
  },
};
const HELP: Option = { type: "boolean", short: "h", about: "print this help" };
const GENERAL: Command = {
  usage: "COMMAND",
  options: { version: { type: "boolean", short: "v", about: "print the version" } },
  most: 0,
};

const NO_KEY =
  "set the key as PLEDGE_API_KEY in the environment: if it is part of the command, other programs and the shell's history can show it";

async function main(args: string[]): Promise<number> {
  if (args.some(isKey)) throw new Stop(`an argument is a key: ${NO_KEY}`);
  const name = args[0]?.startsWith("-") ? undefined : args[0];
  const command = name === undefined ? GENERAL : commandOf(name);
  const {
    values: { help, ...values },
    positionals,
  } = parsed(command, name === undefined ? args : args.slice(1));
  if (help) return print(helpOf(command));
  if (command !== GENERAL) return command.run!(values, positionals);
  if ((values as { version?: boolean }).version) return print(VERSION);
  throw new Stop(helpOf(GENERAL));
}

/**
 * Whether an argument contains an API key: the key in `PLEDGE_API_KEY`, or any text that looks like a key.
 */
function isKey(arg: string): boolean {
  const { PLEDGE_API_KEY: key } = process.env;
  return arg.includes("service_sk_") || Boolean(key && (arg === key || arg.endsWith(`=${key}`)));
}

function print(text: string): 0 {
  console.log(text);
  return 0;
}

function commandOf(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]!;
  throw new Stop(
    `there is no command \`${printable(name)}\`; ${suggest(name, Object.keys(COMMANDS), "commands")}`,
  );
}

function parsed({ usage, options, most }: Command, args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...options, help: HELP },
      allowPositionals: true,
    });
    if (positionals.length > most)
      throw new Stop(
        `\`${printable(positionals[most]!)}\` is one too many: \`impact-pledge ${usage}\``,
      );
    return { values, positionals };
  } catch (error) {
    if (!String((error as ParseError).code).startsWith("ERR_PARSE_ARGS_")) throw error;
    throw new Stop(aboutOption(error as ParseError, Object.keys({ ...options, help: HELP })));
  }
}

interface ParseError extends Error {
  readonly code: string;
}

function aboutOption({ code, message }: ParseError, names: readonly string[]): string {
  if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") return printable(message.split("\n")[0]!);
  const option = message.match(/-[^']*/)![0];
  if (/^-+(api-?)?(key|token)$/i.test(option))
    return `a key can't be given by \`${option}\`: ${NO_KEY}`;
  return `\`${printable(option)}\` is not an option here; ${suggest(
    option,
    names.map((name) => `--${name}`),
  )}`;
}

function helpOf({ usage, about, more, options }: Command): string {
  const rows: Row[] = Object.entries({ ...options, help: HELP }).map(
    ([name, { short, value, about }]) => [
      `--${name}${value ? ` ${value}` : ""}${short ? `, -${short}` : ""}`,
      about,
    ],
  );
  const commands = Object.values(COMMANDS).map(({ usage, about }): Row => [usage, about!]);
  const parts = about
    ? [`${about}.`, table(rows), more]
    : [
        "Validates, creates and reads pledge transactions, and runs the service for tests.",
        table(commands),
        table(rows),
        "Run `impact-pledge COMMAND --help` for the options of a command.",
      ];
  return `impact-pledge ${usage} [OPTIONS]\n\n${parts.join("\n\n")}`;
}

type Row = readonly [left: string, right: string];
const table = (rows: readonly Row[]) =>
  rows.map(([left, right]) => `  ${left.padEnd(25)}  ${right}`).join("\n");

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(); // the reader, such as `head`, has closed the pipe
});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  console.error(error.message);
  process.exitCode = error.status;
}
