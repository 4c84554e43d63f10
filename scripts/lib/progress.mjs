/** Prints the progress of a long command on standard error. */
import { log } from "./output.mjs";

const EVERY_MS = 10_000;

/**
 * Returns a function that prints a count, at most once in `EVERY_MS`.
 * @param {string} what such as `records listed`
 * @returns {(count: number) => void}
 */
export function progress(what) {
  let last;
  return (count) => {
    last ??= Date.now();
    if (Date.now() - last < EVERY_MS) return;
    last = Date.now();
    log(`${count.toLocaleString("en")} ${what} …`);
  };
}
