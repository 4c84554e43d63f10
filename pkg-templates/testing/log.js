/** The last requests, as a test may see them: without keys. */
import { REDACTED } from "../redact.js";

const MOST_REQUESTS = 1_000,
  MOST_TEXT = 16 * 1024 * 1024;

export function newLog(labelOf) {
  const entries = [];
  let size = 0;

  /** The oldest go when there are too many, or their bodies too long. */
  function bound() {
    while (entries.length > MOST_REQUESTS || size > MOST_TEXT) size -= entries.shift().size;
  }

  return {
    add({ method, url, headers }, body) {
      const { pathname, search } = new URL(url),
        shown = Object.fromEntries(headers);
      const [scheme, token] = headers.get("authorization")?.trim().split(/ +/) ?? [];
      if (scheme !== undefined)
        shown.authorization =
          token === undefined ? REDACTED : `${scheme} ${labelOf(token) || REDACTED}`;
      const entry = {
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
    end(entry, status) {
      Object.assign(entry, { status, text: entry.body.text(), body: undefined });
      entry.size = entries.includes(entry) ? (entry.text?.length ?? 0) : 0;
      size += entry.size;
      bound();
    },
    requests: () =>
      entries.map(({ method, path, headers, body, text, status }) => ({
        method,
        path,
        headers: { ...headers },
        body: parsed(body ? body.text() : text),
        status,
      })),
  };
}

/** JSON as its value, other text as it is; nothing as `undefined`. */
function parsed(text) {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return text;
  }
}
