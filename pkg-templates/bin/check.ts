/* The command `validate`, and the validation before a `create`. */
import { createReadStream } from "node:fs";
import type { CreatePledgeTransactionRequest } from "impact-pledge/validate";
import { errorAddress } from "../../www/site/origin.js";
import { MAX_BODY_BYTES } from "../generated/service.ts";
import { CYAN, GREY, Stop, jsonText, painter, printable } from "./output.ts";
import { type PlacedIssue, withPlaces } from "./places.ts";

interface Checked {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly issues: readonly PlacedIssue[];
}

const REASONS: Partial<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
};

/** Prints all issues of a request; returns the exit status. */
export async function validate(
  { json }: { json?: boolean },
  [file]: readonly string[],
): Promise<0 | 1> {
  const { name, bytes, issues } = await checked(file);
  if (json) console.log(jsonText(issues));
  else if (issues.length === 0) console.log(`${name} is valid`);
  else report(name, bytes, issues, process.stdout);
  return issues.length === 0 ? 0 : 1;
}

/**
 * Reads a request from a file. If the request has issues, prints them to standard error and ends the
 * command.
 */
export async function validRequest(
  file: string | undefined,
): Promise<CreatePledgeTransactionRequest> {
  const { name, bytes, issues } = await checked(file);
  if (issues.length === 0) return JSON.parse(new TextDecoder().decode(bytes));
  report(name, bytes, issues, process.stderr);
  throw new Stop("nothing was sent", 1);
}

async function checked(file = process.stdin.isTTY ? undefined : "-"): Promise<Checked> {
  if (file === undefined)
    throw new Stop("pass the file of a request, or write a request to standard input");
  const name = file === "-" ? "standard input" : printable(file);
  const bytes = await read(file, name);
  const { validateBytes } = await import("impact-pledge/validate");
  return { name, bytes, issues: withPlaces(validateBytes(bytes), bytes) };
}

async function read(file: string, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of file === "-" ? process.stdin : createReadStream(file)) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES)
        throw new Stop(
          `${name} has more than ${MAX_BODY_BYTES} bytes, the limit of the service. Split its pledges over several requests`,
        );
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Stop
      ? error
      : new Stop(
          `${name} can't be read: ${REASONS[(error as NodeJS.ErrnoException).code!] ?? printable((error as Error).message)}`,
        );
  }
  return Buffer.concat(chunks);
}

function report(
  name: string,
  bytes: Uint8Array,
  issues: readonly PlacedIssue[],
  stream: NodeJS.WriteStream,
): void {
  const paint = painter(stream);
  const more = issues.at(-1)!.count ?? 0;
  const shown = issues
    .slice(0, more ? -1 : undefined)
    .sort((a, b) => a.line! - b.line! || a.column! - b.column!);
  for (const { path, code, message, line, column } of shown) {
    stream.write(
      `${paint(CYAN, `${name}:${line}:${column}`)} ${printable(path.join(".") || "the request")} ${printable(message)} ${paint(GREY, `(${code})`)}\n`,
    );
  }
  const count = shown.length + more;
  stream.write(
    `${count} ${count === 1 ? "problem" : "problems"}${more ? `, of which these are the first ${shown.length}` : ""}${encodingOf(bytes)}\n`,
  );
  const codes = new Set(shown.map(({ code }) => code));
  stream.write(`${paint(GREY, `see ${errorAddress(codes.size === 1 ? [...codes][0]! : "")}`)}\n`);
}

/**
 * Describes what is wrong with the encoding of a file that is not JSON. Returns an empty text if it finds
 * nothing.
 */
function encodingOf([first, second, third]: Uint8Array): string {
  if (first === 0xef && second === 0xbb && third === 0xbf)
    return "; the text begins with a byte order mark: save it as UTF-8 without one";
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
    ? "; the text is UTF-16: save it as UTF-8"
    : "";
}
