/* `impact-pledge/react-hook-form`: a resolver for React Hook Form. It reads values like `readForm` reads a form. */
import {
  type FormPayload,
  type PostedIssue,
  type ReadFormOptions,
  readForm,
  ready,
} from "impact-pledge/form";
import type { CreatePledgeTransactionRequest } from "impact-pledge/validate";
import type {
  FieldError,
  FieldErrors,
  FieldValues,
  ResolverOptions,
  ResolverResult,
} from "react-hook-form";
import { isAmbiguous } from "./form/fields.ts";
import { READ, checkOptions } from "./form/options.ts";
import { MAX_STEPS } from "./form/shape.ts";
import { REQUEST } from "./generated/fields.ts";

/**
 * The options of {@link pledgeResolver}: those of `readForm`, and the name under which the form's values
 * contain the request.
 */
export interface PledgeResolverOptions<Optional extends boolean = false, Name extends string = "">
  extends ReadFormOptions<Optional> {
  /**
   * The name of the form's value that contains the request, such as `pledge` for fields like
   * `pledge.recipient.email`. Members of this value that a request does not have are left out of the payload.
   * Default: the request's members are at the top level, beside your own values.
   */
  name?: Name | undefined;
}

/**
 * The values that `handleSubmit` passes on: your own values unchanged, and the request in the format of the
 * service.
 *
 * If no pledge is chosen, there is no request. The value at `name` is then `null`. If there is no `name`,
 * `pledges` is absent, and all other values are unchanged.
 *
 * Pass this type as the third type argument of `useForm`: `useForm<Values, unknown, PledgeValues<Values>>({
 * resolver })`.
 */
export type PledgeValues<
  Values,
  Optional extends boolean = boolean,
  Name extends string = "",
> = Name extends ""
  ?
      | Replaced<Values, RequestIn<Values>>
      | (Optional extends true ? Omit<Values, "pledges"> & { pledges?: never } : never)
  : Name extends `${infer First}.${infer Rest}`
    ? Replaced<Values, { [N in First]: PledgeValues<MemberOf<Values, N>, Optional, Rest> }>
    : Replaced<Values, { [N in Name]: Fitting<FormPayload<Optional>, MemberOf<Values, N>> }>;

type MemberOf<Values, Name extends string> = Values extends { readonly [N in Name]?: infer Member }
  ? NonNullable<Member>
  : unknown;

/** The type of values that contain a request among other values. */
type RequestIn<Values> = {
  [N in keyof CreatePledgeTransactionRequest]: N extends keyof Values
    ? Fitting<CreatePledgeTransactionRequest[N], Values[N]>
    : CreatePledgeTransactionRequest[N];
};

/**
 * The type of a request's member, adapted to the type that the form declares for it. If only a mutable type
 * fits, the result is mutable, and its optional members do not accept `undefined`.
 */
type Fitting<Type, Own> = Type extends Own
  ? Type
  : Mutable<Type> extends Own
    ? Mutable<Type>
    : Type;

type Mutable<Type> = Type extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : Type extends object
    ? { -readonly [N in keyof Type]: Mutable<Exclude<Type[N], undefined>> }
    : Type;

/**
 * The type of values in which some members are replaced. If the replaced members keep their types, the result
 * is the same type.
 */
type Replaced<Values, Members> = Values extends Members
  ? Members extends Pick<Values, keyof Values & keyof Members>
    ? Values
    : Omit<Values, keyof Members> & Members
  : Omit<Values, keyof Members> & Members;

/** Prevents TypeScript from inferring a type from this position, like `NoInfer` of TypeScript 5.4. */
type Fixed<Type> = [Type][Type extends unknown ? 0 : never];

/** The part of a form's state that a resolver reads. A server that has no form passes `{ fields: {} }`. */
type FormState<Values extends FieldValues> = Pick<ResolverOptions<Values>, "fields"> &
  Partial<ResolverOptions<Values>>;

/** A resolver for forms with any values; `useForm` infers their type. */
export type PledgeResolver<Optional extends boolean = false, Name extends string = ""> = <
  Values extends FieldValues = CreatePledgeTransactionRequest,
>(
  values: Values,
  context: unknown,
  form: FormState<Values>,
) =>
  | ResolverResult<Values, PledgeValues<Values, Optional, Name>>
  | Promise<ResolverResult<Values, PledgeValues<Values, Optional, Name>>>;

const OPTIONS = { ...READ, name: "string" };

/**
 * Returns a resolver for React Hook Form. The resolver reads values as `bindForm` and `readForm` read a form:
 * - Members that a request does not have are your own.
 * - Empty values are left out.
 * - Text becomes a number or a date-time where the service requires one.
 *
 * The `type` of an error is the code of its issue. Its `message` is a text for shoppers.
 *
 * If WebAssembly cannot run, such as under a Content-Security-Policy without `'wasm-unsafe-eval'`, the resolver
 * waits for the same rules as plain JavaScript. If they do not load within 5 seconds, an error is logged, and
 * the values are passed on unchecked: your server must check them.
 *
 * @throws {TypeError} if an option does not exist or has a wrong type
 * @example
 * import { de } from "impact-pledge/locales/de";
 * import { pledgeResolver } from "impact-pledge/react-hook-form";
 *
 * const resolver = pledgeResolver({ optional: true, messages: de });
 * const { register, handleSubmit, formState } = useForm({ resolver, defaultValues });
 */
export function pledgeResolver<Optional extends boolean = false, Name extends string = "">(
  options: PledgeResolverOptions<Optional, Name> = {},
): PledgeResolver<Fixed<Optional>, Fixed<Name>> {
  const { name, ...others } = checkOptions(OPTIONS, options);
  const place = name ? name.split(".") : [];
  let waits = false,
    wasLogged = false;
  function check(values: Values, form: Form): ResolverResult {
    const request = valueAt(values, place),
      fields = valueAt(form.fields, place);
    const { payload, issues } = readForm(controlsOf(request, fields), others);
    const errors = errorsOf(issues, place, form);
    if (form.shouldUseNativeValidation) showNatively(errors, form);
    if (issues.length > 0) return { values: {}, errors };
    return { values: withPayload(values, place, payload as Values | null), errors: {} };
  }
  async function checkLater(values: Values, form: Form): Promise<ResolverResult> {
    try {
      await ready();
      return check(values, form);
    } catch (error) {
      if (!wasLogged) console.error("impact-pledge: the form is not checked:", error);
      wasLogged = true;
      return { values, errors: {} };
    }
  }
  function resolve(values: Values, _context: unknown, form: Form) {
    try {
      if (!waits) return check(values, form);
    } catch {
      waits = true; // the rules cannot run, or reading a value threw
    }
    return checkLater(values, form);
  }
  return resolve as PledgeResolver<Fixed<Optional>, Fixed<Name>>;
}

type Values = Readonly<Record<string, unknown>>;
type Form = FormState<FieldValues>;

/** A field in React Hook Form's state: `refs` are several checkboxes or radio buttons with one name. */
interface Field {
  readonly ref?: FieldElement;
  readonly refs?: readonly FieldElement[];
}

/** An input, or the object that a component registers instead. */
type FieldElement = Partial<HTMLInputElement>;

/**
 * Reads a value by its path.
 * @returns the value at the path; undefined if there is none
 */
const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((each, step) => (each as Values | null | undefined)?.[step], value);

function elementsOf(
  fields: unknown,
  path: readonly string[],
): readonly (FieldElement | undefined)[] {
  const { ref, refs = [ref] } = (valueAt(fields, path) ?? {}) as Field;
  return refs;
}

// ---- Values as the controls of a form ------------------------------------------------------------------

/** Stands for a value that has no text. It is neither a number nor a date, and does not count as empty. */
const UNREADABLE = "\uFFFD";

/**
 * Returns the names and texts of the request's members, as in posted data.
 * @param fields the fields of the request in React Hook Form's state
 */
const controlsOf = (request: unknown, fields: unknown): [name: string, text: string][] =>
  Object.keys(REQUEST.members!).flatMap((name) => {
    const member = (request as Values | null | undefined)?.[name];
    return member === undefined ? [] : controlsIn(member, [name], fields);
  });

function controlsIn(
  value: unknown,
  path: readonly string[],
  fields: unknown,
): [name: string, text: string][] {
  const isObject = typeof value === "object" && value !== null;
  if (isObject && typeof (value as Partial<Date>).toJSON === "function")
    return [[path.join("."), dateOf(value as Date) ?? unreadIn(path, fields)]];
  if (!isObject) return [[path.join("."), textOf(value, path, fields)]];
  if (path.length >= MAX_STEPS) return [[path.join("."), UNREADABLE]];
  return Object.entries(value).flatMap(([name, member]) =>
    controlsIn(member, [...path, name], fields),
  );
}

/** Formats a date as text. Also accepts the date objects of date libraries. Returns undefined for an invalid date. */
function dateOf(date: Date): string | undefined {
  const json: unknown = date.toJSON();
  return json === null || json === undefined ? undefined : String(json);
}

/** The values of empty fields and unticked checkboxes. */
const EMPTY: readonly unknown[] = [undefined, null, false, ""];

function textOf(value: unknown, path: readonly string[], fields: unknown): string {
  if (Number.isNaN(value)) return unreadIn(path, fields);
  const [element] = elementsOf(fields, path),
    text = EMPTY.includes(value) ? "" : String(value);
  if (text) return isAmbiguous(element, path.join("."), text) ? UNREADABLE : text;
  return element?.validity?.badInput ? UNREADABLE : "";
}

/**
 * Returns the text for a number or date that could not be parsed. The text is empty if the input element is
 * empty. Otherwise it is a text that is neither a number nor a date.
 */
function unreadIn(path: readonly string[], fields: unknown): string {
  const [element] = elementsOf(fields, path);
  return element?.value === "" && !element.validity?.badInput ? "" : UNREADABLE;
}

/**
 * Returns a copy of the form's values. The payload replaces the part at the given path, from which the payload
 * was read.
 */
function withPayload(values: Values, [step, ...rest]: string[], payload: Values | null): Values {
  if (step !== undefined)
    return {
      ...values,
      [step]: rest.length > 0 ? withPayload(values[step] as Values, rest, payload) : payload,
    };
  const isOwn = (name: string) =>
    payload ? !Object.hasOwn(REQUEST.members!, name) : name !== "pledges";
  return {
    ...Object.fromEntries(Object.entries(values).filter(([name]) => isOwn(name))),
    ...payload,
  };
}

// ---- Issues as the errors of fields --------------------------------------------------------------------

/**
 * Names that a field cannot have. React Hook Form finds no errors under some of them, and an array itself
 * uses `length`.
 */
const NO_FIELDS = ["__proto__", "constructor", "prototype", "length"];
const OF_GROUPS = /^too_(few|many)_items$/;
const INDEX = /^\d+$/;

/**
 * Returns an error for each field, about the field's first issue. In React Hook Form's criteria mode `all`,
 * `types` contains all messages by code.
 */
function errorsOf(
  issues: readonly PostedIssue[],
  place: readonly string[],
  { fields, names = [], criteriaMode }: Form,
): FieldErrors {
  const errors: FieldErrors = {};
  for (const issue of issues) {
    const { code, message } = issue,
      path = pathOf(issue, place),
      [ref] = elementsOf(fields, path);
    const hasItems = OF_GROUPS.test(code) && names.some((name) => isItem(name, path));
    addError(errors, hasItems ? [...path, "root"] : path, {
      type: code,
      message,
      ...(ref && { ref: ref as HTMLInputElement }),
      ...(criteriaMode === "all" && { types: { [code]: message } }),
    });
  }
  return errors;
}

/**
 * Returns the path of the field or array that an issue belongs to. The path ends before the first name that
 * no field can have.
 */
function pathOf({ name, path, code }: PostedIssue, place: readonly string[]): string[] {
  const steps = name === null || OF_GROUPS.test(code) ? path.map(String) : name.split("."),
    all = [...place, ...steps];
  const end = all.findIndex((step) => NO_FIELDS.includes(step));
  return end < 0 ? all : all.slice(0, end);
}

/**
 * Whether a field belongs to an item of an array. If so, React Hook Form expects the array's own errors in
 * the array's `root`.
 */
const isItem = (name: string, array: readonly string[]) =>
  name.startsWith(`${array.join(".")}.`) && INDEX.test(name.split(".")[array.length]!);

function addError(errors: object, path: readonly string[], error: FieldError): void {
  let node = errors as Record<string, object>;
  const steps = path.length > 0 ? path : ["root"];
  steps.forEach((step, index) => {
    if (!Object.hasOwn(node, step)) node[step] = INDEX.test(steps[index + 1] ?? "") ? [] : {};
    node = node[step] as Record<string, object>;
  });
  const { types } = node as Partial<FieldError>;
  Object.assign(node, { ...error, ...node, ...(types && { types: { ...error.types, ...types } }) });
}

/**
 * Sets the validation message of each element, as React Hook Form does, and lets the browser show the first
 * message.
 */
function showNatively(errors: FieldErrors, { fields, names = [] }: Form): void {
  let first: FieldElement | undefined;
  for (const name of names) {
    const path = name.split("."),
      elements = elementsOf(fields, path);
    const text = (valueAt(errors, path) as Partial<FieldError> | undefined)?.message ?? "";
    for (const element of elements) element?.setCustomValidity?.(text);
    if (text) first ??= elements[0];
  }
  first?.reportValidity?.();
}
