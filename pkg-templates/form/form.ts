/* `impact-pledge/form`: checks a plain HTML form in a page, and posted data on a server, by the same rules. */
import { type Checks, attachChecks } from "./binding.ts";
import { zoneOf } from "./dates.ts";
import { isChecked, resend } from "./failure.ts";
import { MESSAGES, READ, checkOptions } from "./options.ts";
import { own } from "./own.ts";
import { read } from "./read.ts";
import { loadIfNeeded, ready } from "./rules.ts";
import type {
  BindFormOptions,
  FormBinding,
  Dom,
  FormReading,
  PostedData,
  PostedIssue,
  ReadFormOptions,
} from "./types.ts";

export { fieldAttributes } from "./attributes.ts";
export { ready } from "./rules.ts";
export type {
  BindFormOptions,
  FieldAttributes,
  FieldAttributesOptions,
  FormBinding,
  FormField,
  FormIssue,
  FormMessages,
  FormOptions,
  FormPayload,
  FormReading,
  FormSubmission,
  PostedData,
  PostedIssue,
  ReadFormOptions,
  ReportedIssue,
} from "./types.ts";

const BIND = {
  messages: MESSAGES,
  summary: "function",
  onSubmit: "function",
  onIssues: "function",
  optional: "boolean",
  timeZone: zoneOf,
};

/** The signal of each bound form. It is aborted when the form is unbound. */
const bound = new WeakMap<HTMLFormElement, AbortSignal>();

/**
 * Reads and checks the posted data of a form on a server, by the same rules as {@link bindForm} in the page.
 *
 * @throws {TypeError} if an option does not exist or has a wrong type
 * @throws {Error} if WebAssembly cannot run, and the caller has not awaited {@link ready} before
 * @example
 * ```js
 * const { valid, payload, issues } = readForm(await request.formData(), {
 *   optional: true,
 *   timeZone: "Europe/Berlin",
 * });
 * ```
 */
export function readForm<Optional extends boolean = false>(
  data: PostedData,
  options: ReadFormOptions<Optional> = {},
): FormReading<PostedIssue, Optional> {
  checkOptions(READ, options);
  const entries = [...(data as Iterable<readonly [string, string]>)].filter(
    ([, value]) => typeof value === "string",
  );
  const [reading] = read(
    // An issue of the whole list of pledges belongs to an amount: only amounts count as visible.
    entries.map(([name, value]) => ({ name, value, hidden: !name.endsWith(".amount") })),
    "name",
    options,
  );
  return reading as never;
}

/**
 * Checks a form while the shopper fills it in. The names of its fields are paths of the request: `reference`,
 * `recipient.email`, `pledges.0.impact.amount`, and `notifications` for each of several checkboxes. Fields with
 * other names are checked by the browser only.
 *
 * A problem appears once the shopper has left or changed the field, and disappears once it is solved. It is
 * shown in the element with `data-problem="{name}"`, or else in a new paragraph of class
 * `impact-pledge-problem` after the field.
 *
 * If WebAssembly cannot run, the same rules are loaded as plain JavaScript. While they load, only the browser
 * checks the form, and a submission waits for at most 5 seconds. If they cannot be loaded, only the browser
 * checks the form, and an error is logged once per page.
 *
 * @throws {TypeError} if the first argument is not a form (such as `null` from `querySelector`), if the form is already bound, or
 *   if an option does not exist or has a wrong type
 * @example
 * ```js
 * const binding = bindForm(document.querySelector("form"), {
 *   optional: true, // the shopper may order without a pledge
 *   async onSubmit(payload, { data }) {
 *     const response = await fetch("/order", { method: "POST", body: data }); // the whole form, for `readForm`
 *     if (response.status === 422) return response.json(); // { issues: [{ path: ["recipient", "email"], message: "…" }] }
 *     if (!response.ok) throw new Error(`the shop answered ${response.status}`);
 *     location.assign("/thanks");
 *   },
 * });
 * ```
 */
export function bindForm<Optional extends boolean = false>(
  form: Dom<"HTMLFormElement"> | null | undefined,
  options: BindFormOptions<Optional> = {},
): FormBinding<Optional> {
  if (!form || typeof own(form, "requestSubmit") !== "function")
    throw new TypeError(`\`bindForm\` takes a form element, not ${form}: is it in the page yet?`);
  if (bound.get(form)?.aborted === false)
    throw new TypeError("this form is bound already: unbind it first");
  checkOptions(BIND, options);
  const binding = new AbortController(),
    { signal } = binding;
  bound.set(form, signal);
  let checks: Checks | undefined;
  const unbind = () => {
    binding.abort();
    checks = undefined;
  };
  const attach = () => {
    if (!signal.aborted) checks = attachChecks(form, options, signal);
  };
  const rules = loadIfNeeded();
  if (rules) {
    holdUntil(() => checks, form, signal);
    rules.then(attach, unbind);
  } else attach();
  return {
    get isActive() {
      return Boolean(checks);
    },
    read: () => (checks ? checks.read()[0] : { valid: false, issues: [] }) as never,
    refresh: () => void checks?.refresh(),
    report: (issues) => void checks?.report(issues),
    unbind,
  };
}

/** Delays a submission until the rules are loaded or the wait has timed out. Then submits the form again. */
function holdUntil(areLoaded: () => unknown, form: HTMLFormElement, signal: AbortSignal): void {
  let isWaiting: boolean | undefined; // false: the wait is over
  async function hold(event: SubmitEvent): Promise<void> {
    if (areLoaded() || isWaiting === false || event.target !== form) return;
    if (!isChecked(form, event.submitter)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (isWaiting) return;
    isWaiting = true;
    own(form, "setAttribute")("aria-busy", "true");
    await ready().catch(() => {}); // without the rules, the server checks the form
    isWaiting = false;
    own(form, "removeAttribute")("aria-busy");
    resend(form, event.submitter);
  }
  own(form, "addEventListener")("submit", hold, { capture: true, signal });
}
