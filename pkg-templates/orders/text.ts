/* Texts of a body. Whatever does not have the expected shape is left out. `src/pledges/orders/text.rs` has the rules. */
import { type Found, scalar } from "./json.ts";

/** Returns what reads a text or a number of this pattern, without white space around it. */
const trimmed = (pattern: RegExp) => (value: Found) => scalar(value).trim().match(pattern)?.[0];

// A native test compares the lengths in these patterns with those of the service.
export const plain = /* @__PURE__ */ trimmed(/^\P{Cc}{1,1000}$/u);
export const name = /* @__PURE__ */ trimmed(/^\P{Cc}{1,100}$/u);
export const language = /* @__PURE__ */ trimmed(/^(?!.{36})[a-z\d]{2,3}([-_][a-z\d]{1,8})*$/i);

export const currency = (value: Found): string | undefined =>
  scalar(value)
    .match(/^[a-z]{3}$/i)?.[0]
    .toUpperCase();

export const id = (value: Found): string | undefined =>
  typeof value === "string" || (Number.isSafeInteger(value) && Number(value) >= 0)
    ? `${value}`.match(/^[!-~]{1,100}$/)?.[0]
    : undefined;

/** Returns a date-time as RFC 3339, from one, from one without its `Z`, from seconds, or from a date as in e-mails. */
export function dateTime(value: Found): string | undefined {
  const text = plain(value) ?? "";
  const isSeconds = typeof value === "number";
  const date = new Date(isSeconds ? value * 1_000 : text);
  if (isSeconds ? /^\d{1,11}$/.test(text) : date.toUTCString().replace("GMT", "+0000") === text)
    return Number(date) < 0 ? undefined : date.toISOString().replace(".000", "");
  return [text, `${text}Z`].find(isDateTime);
}

/** Returns whether a text is an RFC 3339 date-time. `NaN` is not below infinity. */
const isDateTime = (text: string): boolean =>
  /^\d{4}(-\d\d){2}T(\d\d:){2}\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
  Date.parse(text) < Infinity;
