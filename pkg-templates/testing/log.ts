/* Records the latest requests for the test, without API keys. */
import { REDACTED } from "../redact.ts";
import type { Body } from "./body.ts";
import type { Incoming } from "./exchange.ts";
import type { RecordedRequest } from "./types.ts";

/** The real timers, even while a test uses fake ones. */
const { setTimeout, clearTimeout } = globalThis;
const MOST_REQUESTS = 1_000,
  MOST_TEXT = 16 * 1024 * 1024;

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The request's body; `undefined` once the request has ended. */
  readonly body: Body | undefined;
  /** The text of the request's body; set once the request has ended. */
  readonly text?: string | undefined;
  readonly status: number | null;
  size: number;
}

export function newLog(labelOf: (token: string) => string | undefined) {
  const entries: Entry[] = [];
  const waiting = new Set<() => void>();
  let size = 0,
    answered = 0;

  /** Removes the oldest requests while there are too many, or while all bodies together are too long. */
  function bound(): void {
    while (entries.length > MOST_REQUESTS || size > MOST_TEXT) size -= entries.shift()!.size;
  }

  const requests = (): RecordedRequest[] =>
    entries.map(({ method, path, headers, body, text, status }) => ({
      method,
      path,
      headers: { ...headers },
      body: parsed(body ? body.text() : text),
      status,
    }));

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
      answered += 1;
      for (const look of waiting) look();
    },
    requests,
    /**
     * Resolves once `count` requests have ended. A request that gets no response because of a fault also
     * counts.
     */
    received: (count: number, { deadlineMs }: { readonly deadlineMs: number }) =>
      new Promise<RecordedRequest[]>((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(`the service received ${answered} of ${count} requests in ${deadlineMs} ms`),
          );
        }, deadlineMs);
        function look() {
          if (answered < count) return;
          waiting.delete(look);
          clearTimeout(timer);
          resolve(requests());
        }
        waiting.add(look);
        look();
      }),
  };
}

/** Parses text as JSON. Returns text that is not JSON unchanged, and `undefined` for an empty body. */
function parsed(text: string | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return text;
  }
}
