/** Says on standard error how far a long command has come. */
import { log } from "./output.mjs";

const EVERY_MS = 10_000;

/** @param {string} what such as `transactions looked through` @returns {(count: number) => void} */
export function progress(what) {
  let last = Date.now();
  return (count) => {
    if (Date.now() - last < EVERY_MS) return;
    last = Date.now();
    log(`${count.toLocaleString("en")} ${what} …`);
  };
}
