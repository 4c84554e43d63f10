// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

import type { Kind } from "../validate/types.ts";

/** The kinds of issues by the numbers of their codes. A message that ends with a blank is followed by a number, a type or a list. */
export const KINDS: (Kind | undefined)[] = [
  ["invalid_type", ["must be ",["null","a boolean","a number","a string","an array","an object","an unserializable value"],", not "]],
  ["required", "is required"],
  ["unknown_member", "is not a member of the contract; allowed here: `"],
  ,
  ["too_few_items", "must have at least 1 item", {"minimum":1}],
  ["too_many_items", "must have at most 3 items", {"maximum":3}],
  ["not_positive", "must be greater than 0", {"exclusive":true,"minimum":0}],
  ["not_finite", "must be a finite number, at most about 1.8e308"],
  ["not_allowed", "must be one of `Email`, `MessagingServiceA`, `MessagingServiceB` or `MessagingServiceC`", {"allowed":["Email","MessagingServiceA","MessagingServiceB","MessagingServiceC"]}],
  ["invalid_email", "must be an e-mail address such as `ada@example.org`"],
  ["invalid_uri", "must be a URI with a scheme such as `https://example.org/`"],
  ["invalid_date_time", "must be an RFC 3339 date-time such as `2026-01-31T12:00:00Z`"],
  ["lone_surrogate", "must be Unicode text, without half of a surrogate pair"],
  ,
  ["too_deep", "must not nest deeper than 64 levels"],
  ,
  ["unreadable", "could not be read"],
  ,
  ["more_issues", "has more problems than these: another "],
];
/** The kinds that only JSON bytes have: pages that check values do not download them. */
export const KINDS_OF_BYTES: Record<number, Kind> = {
  3: ["duplicate_member", "must appear only once in its object"],
  13: ["invalid_utf8", "must be UTF-8"],
  15: ["malformed_json", ["must be JSON: ",["a value","a value or the end of the array or object","a comma or the end of the array or object","a member's name in double quotes","a colon","the end of the text","a digit","an escape instead of a control character","an escape that JSON has","four hexadecimal digits","the closing quote of a string"]," expected at byte "]],
};
/** The kind of a pointer that the contract does not have. */
export const UNKNOWN_POINTER: Kind = ["unknown_pointer", "is not a place in the request"];
