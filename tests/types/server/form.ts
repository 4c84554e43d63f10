// A server's code that reads a posted form compiles without the DOM's types, and without any others.
import {
  bindForm,
  type fieldAttributes,
  readForm,
  type FormIssue,
  type PostedIssue,
} from "impact-pledge/form";
import type { validate, CreatePledgeTransactionRequest, Issue } from "impact-pledge/validate";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

const entries: [string, string][] = [["reference", "order-1"]];
const frozen = [
  ["reference", "order-1"],
  ["recipient.email", "ada@example.org"],
] as const;
/**
 * An object with only those members that all platforms declare for both `FormData` and `URLSearchParams`.
 */
declare const data: { [Symbol.iterator](): Iterator<[string, string | { readonly size: number }]> };

for (const posted of [entries, frozen, new Map(entries), data]) readForm(posted);
const reading = readForm(entries, {
  maxIssues: 10,
});
same<typeof reading.issues, readonly PostedIssue[]>();
if (reading.valid) same<typeof reading.payload, CreatePledgeTransactionRequest>();
else same<typeof reading.payload, { readonly [member: string]: unknown } | undefined>();
const { valid, payload } = reading;
if (valid) same<typeof payload, CreatePledgeTransactionRequest>();
same<(typeof reading.issues)[number]["name"], string | null>();
const perhaps = readForm(entries, { optional: true, timeZone: "Europe/Berlin" });
if (perhaps.valid) same<typeof perhaps.payload, CreatePledgeTransactionRequest | null>();
same<ReturnType<typeof fieldAttributes>["name"], string>();
same<ReturnType<typeof validate>, Issue[]>();

// @ts-expect-error names and values come in pairs
readForm(["reference"]);
// @ts-expect-error there is no such option
readForm(entries, { seen: () => true });
// @ts-expect-error no server has a form to bind
bindForm({ elements: [] });
same<FormIssue["field"], null>();
