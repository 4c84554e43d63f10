/* `impact-pledge/form`: a plain HTML form that checks itself, and the same check of posted data on a server. */
import { type Checks, attachChecks } from "./binding.ts";
import { zoneOf } from "./dates.ts";
import { MESSAGES, READ, checkOptions } from "./options.ts";
import { type Control, type Reading, read } from "./read.ts";
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

/** The signals of bound forms, aborted when they are unbound. */
const bound = new WeakMap<HTMLFormElement, Pick<AbortSignal, "aborted">>();
let wasLogged = false;

/**
 * Reads and checks the posted data of a form on your server, by the same rules as {@link bindForm} in the page.
 *
 * @throws {TypeError} if an option does not exist or has a wrong type
 * @example
 * ```js
 * const { valid, payload, issues } = readForm(await request.formData(), {
 *   hidden: (name) => name.endsWith(".offeringId"),
 *   timeZone: "Europe/Berlin",
 * });
 * ```
 */
export function readForm<Optional extends boolean = false>(
  data: PostedData,
  options: ReadFormOptions<Optional> = {},
): FormReading<PostedIssue, Optional> {
  const { hidden = () => false, timeZone = "UTC", ...others } = checkOptions(READ, options);
  const entries = [...(data as Iterable<readonly [string, string]>)].filter(
    ([, value]) => typeof value === "string",
  );
  return reading(
    read(
      entries.map(([name, value]) => ({ name, value, hidden: hidden(name) })),
      "name",
      { ...others, timeZone },
    ),
  );
}

/**
 * Checks a form while it is filled in. The names of its fields are paths of the request: `reference`,
 * `recipient.email`, `pledges.0.impact.amount`, and `notifications` for each of several checkboxes. Fields of other names
 * are only checked by the browser.
 *
 * A problem is shown after the field was left or chosen, until it is solved: in the element with
 * `data-problem="{name}"`, or in a new paragraph of class `impact-pledge-problem` after the field.
 *
 * If WebAssembly is not available, the form stays unchanged, and an error is logged once per page.
 *
 * @throws {TypeError} if the first argument is not a form, the form is already bound, or an option does not exist or has a
 *   wrong type
 * @example
 * ```js
 * const binding = bindForm(document.querySelector("form"), {
 *   optional: true, // a coffee without a tree
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
  form: Dom<"HTMLFormElement">,
  options: BindFormOptions<Optional> = {},
): FormBinding<Optional> {
  if (typeof form?.elements !== "object" || typeof form.addEventListener !== "function")
    throw new TypeError("`bindForm` takes a form element");
  if (bound.get(form)?.aborted === false)
    throw new TypeError("this form is bound already: unbind it first");
  checkOptions(BIND, options);
  const { signal, read, refresh, report, unbind } = canRun() ? attachChecks(form, options) : INERT;
  bound.set(form, signal);
  const whileActive =
    <Argument = void>(work: (argument: Argument) => unknown) =>
    (argument: Argument) =>
      void (signal.aborted || work(argument));
  return {
    get isActive() {
      return !signal.aborted;
    },
    read: () => reading(read()),
    refresh: whileActive(() => refresh()),
    report: whileActive(report),
    unbind: whileActive(unbind),
  };
}

/** The checks of a form that cannot be checked. */
const INERT = {
  signal: { aborted: true },
  read: () => ({ valid: false, issues: [] }),
} as Partial<Checks> as Checks;

type FieldControl = Control & { readonly field?: undefined };

/** Whether the rules can run here: tries them on an issue that needs both TextEncoder and TextDecoder. */
function canRun(): unknown {
  try {
    return read([{ name: "recipient.x", value: "x" } as FieldControl], "field");
  } catch (error) {
    if (!wasLogged) console.error("impact-pledge: forms are not checked:", error);
    wasLogged = true;
    return false;
  }
}

const reading = ({ valid, payload, issues }: Omit<Reading<Control, never>, "ownerAt">) =>
  ({ valid, payload, issues }) as never;
