// Valid uses of a form in a page, and in a server with the web's types, compile, and wrong ones don't.
import {
  bindForm,
  fieldAttributes,
  readForm,
  type ready,
  type FormBinding,
  type FormField,
  type FormIssue,
  type PostedIssue,
} from "impact-pledge/form";
import type { CreatePledgeTransactionRequest } from "impact-pledge/validate";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

/** An invalid payload. */
type Unchecked = { readonly [member: string]: unknown };

export function page(form: HTMLFormElement, element: Element): FormBinding {
  same<FormField, HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLElement>();
  same<FormIssue["field"], FormField | null>();
  bindForm(document.querySelector("form"));
  bindForm(document.forms[0]);
  // @ts-expect-error not every element is a form
  bindForm(element);
  // @ts-expect-error no problem has this code
  bindForm(form, { messages: { nonsense: "…" } });
  const binding = bindForm(form, {
    messages: { required: "Bitte ausfüllen", not_positive: ({ field }) => field?.title },
    summary: (count) => `${count}`,
    onSubmit(payload, { data, event }) {
      same<typeof payload, CreatePledgeTransactionRequest>();
      same<typeof data, FormData>();
      same<typeof event, SubmitEvent>();
    },
    onIssues: (issues) => same<typeof issues, FormIssue[]>(),
  });
  binding.read().issues[0]?.field?.focus();
  same<typeof binding.isActive, boolean>();
  same<ReturnType<typeof ready>, Promise<void>>();
  binding.report([
    { message: "taken" },
    { path: ["recipient", { key: "email" }], message: "…" },
    { pointer: "/reference", message: "…" },
  ]);
  // @ts-expect-error an issue has a message
  binding.report([{ path: [] }]);
  bindForm(form, {
    messages: {
      summary: ({ count }) => `${count}`,
      submit_failed: "Nicht gesendet.",
      retry: "Noch einmal",
    },
    timeZone: "Europe/Berlin",
  });
  // @ts-expect-error there is no such option
  bindForm(form, { onsubmit() {} });
  return binding;
}

export function optional(form: HTMLFormElement, data: FormData, either: boolean): void {
  const binding = bindForm(form, {
    optional: true,
    onSubmit: (payload) => same<typeof payload, CreatePledgeTransactionRequest | null>(),
  });
  for (const reading of [
    binding.read(),
    readForm(data, { optional: true }),
    readForm(data, { optional: either }),
  ]) {
    if (reading.valid) same<typeof reading.payload, CreatePledgeTransactionRequest | null>();
    else same<typeof reading.payload, Unchecked | undefined>();
  }
  bindForm(form, {
    optional: false,
    onSubmit: (payload) => same<typeof payload, CreatePledgeTransactionRequest>(),
  });
}

export function destructured(data: FormData, binding: FormBinding<true>): unknown {
  const { valid, payload, issues } = readForm(data, { optional: true });
  same<typeof payload, CreatePledgeTransactionRequest | Unchecked | null | undefined>();
  const messages = valid ? payload?.pledges.map(({ impact }) => impact.offeringId) : issues;
  if (!valid || messages?.length === 0) return payload?.reference;
  same<typeof payload, CreatePledgeTransactionRequest | null>();
  const { valid: isRight, payload: now } = binding.read();
  return isRight && now?.recipient.email;
}

export function rendered(): void {
  same<ReturnType<typeof fieldAttributes>["required"], true | undefined>();
  fieldAttributes("pledges.0.impact.amount", { jsx: true, optional: true }).inputMode;
  fieldAttributes("recipient.email").autocomplete;
  // @ts-expect-error HTML's name is not React's
  fieldAttributes("recipient.email", { jsx: true }).autocomplete;
}

export function server(data: FormData, query: URLSearchParams): void {
  const { issues } = readForm(data);
  same<typeof issues, readonly PostedIssue[]>();
  readForm(query, { maxIssues: 10 });
  readForm([["reference", "order-1"]]);
  // @ts-expect-error a form is bound, not read
  readForm(document.forms[0]);
}
