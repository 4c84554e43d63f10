/* The output of commands, and the error that ends one. */
import type { WriteStream } from "node:tty";
import { keys } from "../../src/office/demo/development.json";

/**
 * An error that ends the command. The exit status is 1 for an invalid request or a failed call, and 2 for
 * wrong usage or unreadable input.
 */
export class Stop extends Error {
  declare status: 1 | 2;

  /**
   * Creates the error that ends the command.
   * @param message the problem and what to do about it
   * @param status the exit status
   */
  constructor(message: string, status: 1 | 2 = 2) {
    super(message);
    this.status = status;
  }
}

/**
 * Escapes the characters that could disturb a terminal: control characters, line separators and marks of text
 * direction. File names and responses may contain them.
 */
export const printable = (text: string) =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
    /[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/**
 * Formats a value as JSON that is safe to print in a terminal. Escapes control characters, which occur only
 * in the strings of JSON, so the JSON stays valid.
 */
export const jsonText = (value: unknown) =>
  JSON.stringify(value, null, 2).split("\n").map(printable).join("\n");

/**
 * Returns a function that colours text by an ANSI number. The text stays plain if the stream is not a
 * terminal with colours, or if NO_COLOR is set.
 */
export const painter = (stream: Partial<WriteStream>) => (colour: number, text: string) =>
  stream.hasColors?.() ? `\x1b[${colour}m${text}\x1b[0m` : text;
export const CYAN = 36,
  GREY = 90;

/** Returns the shell commands that set the environment variables for a service started by `serve`. */
export function settings(baseUrl: string): string {
  const variables = Object.entries({
    PLEDGE_BASE_URL: baseUrl,
    PLEDGE_API_KEY: keys[0]![0] as string,
  });
  return variables
    .map(([name, value]) =>
      process.platform === "win32" ? `  $env:${name} = "${value}"` : `  export ${name}=${value}`,
    )
    .join("\n");
}
