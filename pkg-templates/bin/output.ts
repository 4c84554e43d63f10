/* What a command prints, and how it ends without a result. */
import type { WriteStream } from "node:tty";
import { keys } from "../../src/operator/development.json";

/** Ends the command: 1 for a request that has problems and for a failed call, 2 for wrong use and for what can't be read. */
export class Stop extends Error {
  declare status: 1 | 2;

  /** @param message what is wrong, and what to do @param status of the process */
  constructor(message: string, status: 1 | 2 = 2) {
    super(message);
    this.status = status;
  }
}

/** What changes a terminal, or the order in which it shows text, as an escape: names and answers are others' text. */
export const printable = (text: string) =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
    /[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** JSON, of which nothing changes a terminal: there such characters can only be in texts, where the escapes are JSON's own. */
export const jsonText = (value: unknown) =>
  JSON.stringify(value, null, 2).split("\n").map(printable).join("\n");

/** Colours text (by the number of a colour) where the stream is a terminal that has any, and NO_COLOR is not set. */
export const painter = (stream: Partial<WriteStream>) => (colour: number, text: string) =>
  stream.hasColors?.() ? `\x1b[${colour}m${text}\x1b[0m` : text;
export const CYAN = 36,
  GREY = 90;

/** How a shell sets the variables for a service that `serve` has started. */
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
