/** Says on standard error how far a long command has come. */
import { log } from "./output.mjs";

const EVERY_MS = 10_000;

/** It takes the first call for the beginning. @param {string} what such as `records looked through` @returns {(count: number) => void} */
export function progress(what) {
  let last;
  return (count) => {
    last ??= Date.now();
    if (Date.now() - last < EVERY_MS) return;
    last = Date.now();
    log(`${count.toLocaleString("en")} ${what} …`);
  };
}
