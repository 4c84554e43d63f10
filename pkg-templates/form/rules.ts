/*
 * The rules that a form is checked by: the WebAssembly, or where that cannot run, the same rules as plain JavaScript, which
 * are loaded only then.
 */
import { loadRules } from "#module";
import { checkFormat, useRules } from "../validate/wasm.ts";

/** How long a submit, or any other caller, waits for the rules. */
const PATIENCE_MS = 5_000;

let loading: Promise<unknown> | undefined;

/** Tries the rules that are compiled. @throws {Error} if they cannot run */
const tryRules = () => checkFormat("x", 1);

/** Loads the plain rules, unless the others can run. @returns nothing if they can, without a wait */
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
 * Waits until the rules can run. Only needed where WebAssembly cannot, such as under a Content-Security-Policy without
 * `'wasm-unsafe-eval'`, and only before a call of `readForm` in a page: {@link bindForm} and `pledgeResolver` wait by
 * themselves. The first wait loads the same rules as plain JavaScript.
 *
 * @throws {Error} if they are not loaded within 5 seconds, or cannot run either
 */
export async function ready(): Promise<void> {
  const rules = loadIfNeeded();
  if (rules)
    await Promise.race([
      rules,
      new Promise((_, reject) => setTimeout(reject, PATIENCE_MS, new Error("the rules are late"))),
    ]);
}
