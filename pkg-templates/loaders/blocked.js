/** What stands between a page and WebAssembly, and what to do about it. */
export function blocked(cause) {
  const reason =
    "impact-pledge could not compile its WebAssembly. If a Content-Security-Policy forbids it, add 'wasm-unsafe-eval' to its script-src";
  return new Error(`${reason} (${cause})`, { cause });
}
