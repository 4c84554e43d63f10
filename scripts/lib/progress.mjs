/** Says on standard error how far a long command has come. */
import { say } from "./report.mjs";

const EVERY_MS = 10_000;

/** @param {string} what such as `transactions looked through` @returns {(count: number) => void} */
export function progress(what) {
  let last = Date.now();
  return (count) => {
    if (Date.now() - last < EVERY_MS) return;
    last = Date.now();
    say(`${count.toLocaleString("en")} ${what} …`);
  };
}
