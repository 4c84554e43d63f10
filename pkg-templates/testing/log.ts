/* Records the last requests for the test, without API keys. */
import { REDACTED } from "../redact.ts";
import type { Body } from "./body.ts";
import type { Incoming } from "./state.ts";
import type { RecordedRequest } from "./types.ts";

const MOST_REQUESTS = 1_000,
  MOST_TEXT = 16 * 1024 * 1024;

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The body until the request is answered. */
  readonly body: Body | undefined;
  /** The text of the body after the request was answered. */
  readonly text?: string | undefined;
  readonly status: number | null;
  size: number;
}

export function newLog(labelOf: (token: string) => string | undefined) {
  const entries: Entry[] = [];
  let size = 0;

  /** Removes the oldest requests if there are too many, or their bodies are too long. */
  function bound(): void {
    while (entries.length > MOST_REQUESTS || size > MOST_TEXT) size -= entries.shift()!.size;
  }

  return {
    add({ method, url, headers }: Incoming, body: Body): Entry {
      const { pathname, search } = new URL(url),
        shown: Record<string, string> = Object.fromEntries(headers);
      const [scheme, token] = headers.get("authorization")?.trim().split(/ +/) ?? [];
      if (scheme !== undefined)
        shown.authorization =
          token === undefined ? REDACTED : `${scheme} ${labelOf(token) || REDACTED}`;
      const entry: Entry = {
        method,
        path: pathname + search,
        headers: shown,
        body,
        status: null,
        size: 0,
      };
      entries.push(entry);
      bound();
      return entry;
    },
    end(entry: Entry, status: number | null): void {
      Object.assign(entry, { status, text: entry.body!.text(), body: undefined });
      entry.size = entries.includes(entry) ? (entry.text?.length ?? 0) : 0;
      size += entry.size;
      bound();
    },
    requests: (): RecordedRequest[] =>
      entries.map(({ method, path, headers, body, text, status }) => ({
        method,
        path,
        headers: { ...headers },
        body: parsed(body ? body.text() : text),
        status,
      })),
  };
}

/** Returns the value of JSON, other text unchanged, and `undefined` for an empty body. */
function parsed(text: string | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return text;
  }
}
