/*
 * The rules for checking a form: the WebAssembly, or the same rules as plain JavaScript, loaded only if WebAssembly cannot
 * run.
 */
import { loadRules } from "#module";
import { checkFormat, useRules } from "../validate/wasm.ts";

/** How long a submission, or another caller of `ready`, waits for the rules to load, in milliseconds. */
const PATIENCE_MS = 5_000;

let loading: Promise<unknown> | undefined;

/** Tries the current rules. @throws {Error} if they cannot run */
const tryRules = () => checkFormat("x", 1);

/**
 * Loads the rules as plain JavaScript if WebAssembly cannot run. @returns undefined if WebAssembly can run
 */
export function loadIfNeeded(): Promise<unknown> | undefined {
  if (loading) return loading;
  try {
    tryRules();
  } catch {
    loading = loadRules().then(useRules).then(tryRules);
    loading.catch((error) => console.error("impact-pledge: forms are not checked:", error));
  }
  return loading;
}

/**
 * Waits until the rules can run. Needed only before `readForm`, in a page that forbids WebAssembly, for
 * example by a Content-Security-Policy without `'wasm-unsafe-eval'`. {@link bindForm} and `pledgeResolver`
 * wait by themselves. The first call in such a page loads the same rules as plain JavaScript.
 *
 * @throws {Error} if the plain JavaScript does not load within 5 seconds, or cannot run
 */
export async function ready(): Promise<void> {
  const rules = loadIfNeeded();
  if (rules)
    await Promise.race([
      rules,
      new Promise((_, reject) =>
        setTimeout(reject, PATIENCE_MS, new Error("the rules did not load in time")),
      ),
    ]);
}
