/* Texts of a body. Whatever does not have the expected shape is left out. `src/pledges/orders/text.rs` has the rules. */
import { decimal, write } from "./decimal.ts";
import { type Found, scalar } from "./json.ts";

type Reader = (value: Found) => string | undefined;

/** Returns what reads a text or a number of this pattern, without white space around it. */
const trimmed =
  (pattern: RegExp): Reader =>
  (value) =>
    scalar(value).trim().match(pattern)?.[0];

// A native test compares the lengths in these patterns with those of the service.
export const plain = /* @__PURE__ */ trimmed(/^\P{Cc}{1,1000}$/u);

export const currency: Reader = (value) => trimmed(/^[a-z]{3}$/i)(value)?.toUpperCase();

/** Returns an ID. JavaScript does not read larger numbers exactly. */
export const id: Reader = (value) =>
  typeof value === "string" || Number.isSafeInteger(value)
    ? trimmed(/^[!-~]{1,100}$/)(value)
    : undefined;

/** Returns a quantity; undefined for a negative one. */
export const quantity: Reader = (value) => write(decimal(value));

/** Returns a date-time as RFC 3339, from one, from one without its `Z`, from seconds, or from a date as in e-mails. */
export function dateTime(value: Found): string | undefined {
  const text = plain(value) ?? "";
  const date = new Date(typeof value === "number" ? value * 1_000 : text);
  const forms: Found[] = [+date / 1_000, date.toUTCString().replace("GMT", "+0000")];
  const fromDate = forms.includes(value) ? `${date.toJSON()}`.replace(".000", "") : text;
  return [text, `${text}Z`, fromDate].find(isDateTime);
}

/** Returns whether a text is an RFC 3339 date-time. A day that the month does not have becomes another one. */
function isDateTime(text: string): boolean | undefined {
  const [, local] = text.match(/^(.{19})(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/) ?? [];
  return new Date(`${local}Z`).toJSON()?.startsWith(local!);
}
