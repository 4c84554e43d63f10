/* `impact-pledge/form`: a plain HTML form that checks itself, and the same check of posted data on a server. */
import { mostOf } from "../validate/options.ts";
import { type Checks, attachChecks } from "./binding.ts";
import { zoneOf } from "./dates.ts";
import { checkOptions } from "./options.ts";
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
  PostedData,
  PostedIssue,
  ReadFormOptions,
  ReportedIssue,
} from "./types.ts";

const MESSAGES = "function or object";
const READ = {
  hidden: "function",
  messages: MESSAGES,
  maxIssues: (maxIssues: number) => mostOf({ maxIssues }),
  optional: "boolean",
  timeZone: zoneOf,
};
const BIND = {
  messages: MESSAGES,
  summary: "function",
  onSubmit: "function",
  onIssues: "function",
  optional: "boolean",
  timeZone: zoneOf,
};

/** Aborted once the form is unbound. */
const bound = new WeakMap<HTMLFormElement, Pick<AbortSignal, "aborted">>();
let wasLogged = false;

/**
 * The payload of posted data and its issues, on your server, by the same rules as in the page. Needs no DOM, nor its types.
 *
 * @throws TypeError for options that do not exist or are of the wrong type
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
 * Checks a form as it is filled in. The names of its fields are paths of the request: `reference`,
 * `recipient.email`, `pledges.0.impact.amount`, and `notifications` for each of several boxes. Other fields are left
 * alone, but for the browser's own rules.
 *
 * A problem is shown when its field was left or chosen, and until it is solved: in the element with
 * `data-problem="{name}"`, or in a paragraph of class `impact-pledge-problem` behind the field.
 *
 * Where the rules cannot run, the form is not touched, and one message is logged per page.
 *
 * @throws TypeError for what is no form, a form that is bound already, and options that do not exist or are of the wrong type
 * @example
 * ```js
 * const binding = bindForm(document.querySelector("form"), {
 *   optional: true, // a coffee without a tree
 *   async onSubmit(payload) {
 *     const response = await fetch("/order", { method: "POST", body: JSON.stringify(payload) });
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

/** What a form has that stays the browser's own. */
const INERT = {
  signal: { aborted: true },
  read: () => ({ valid: false, issues: [] }),
} as Partial<Checks> as Checks;

type FieldControl = Control & { readonly field?: undefined };

/** Whether the rules can run here, on a problem for which they need both coders of text. */
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
