/** Links to the playground: the request, its idempotency key and its fault are in the fragment of the URL. */

const PREFIX = "#r=";
const MOST_CHARACTERS = 16_000;
const DAMAGED = "This link is damaged or too long, so the page shows the sample.";

/** @typedef {{text: string, key: string, fault: string}} Shared */

/**
 * Returns the fragment for a request; null if it would be too long.
 * @param {Shared} shared
 */
export function fragmentOf({ text, key, fault }) {
  const bytes = new TextEncoder().encode(JSON.stringify([text, key, fault]));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const base64 = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const fragment = PREFIX + base64;
  return fragment.length <= MOST_CHARACTERS ? fragment : null;
}

/**
 * Parses a fragment. Returns null for an empty one, and otherwise the request or a problem. Anybody can make a fragment, so
 * its parts are only texts.
 * @param {string} fragment
 * @param {string[]} faults the known faults
 * @returns {{shared: Shared} | {problem: string} | null}
 */
export function sharedIn(fragment, faults) {
  if (fragment === "" || fragment === "#") return null;
  const shared = fragment.length <= MOST_CHARACTERS ? decoded(fragment) : null;
  return shared && faults.includes(shared.fault) ? { shared } : { problem: DAMAGED };
}

/** @returns {Shared | null} */
function decoded(fragment) {
  const base64 = fragment.startsWith(PREFIX) ? fragment.slice(PREFIX.length) : "";
  if (!/^[\w-]+$/.test(base64)) return null;
  try {
    const binary = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const parts = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const isWhole = Array.isArray(parts) && parts.length === 3;
    if (!isWhole || parts.some((part) => typeof part !== "string")) return null;
    const [text, key, fault] = parts;
    return { text, key, fault };
  } catch {
    return null;
  }
}
