// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

import type { Kind } from "../validate/types.ts";

/** The kinds of issues in a form by the numbers of their codes, without the messages, except the one that names types. */
export const KINDS: (Kind | undefined)[] = [
  ["invalid_type", ["must be ",["null","a boolean","a number","a string","an array","an object","an unserializable value"],", not "]],
  ["required", ""],
  ["unknown_member", ""],
  ["duplicate_member", ""],
  ["too_few_items", "", {"minimum":1}],
  ["too_many_items", "", {"maximum":3}],
  ["not_positive", "", {"exclusive":true,"minimum":0}],
  ["not_finite", ""],
  ["not_allowed", "", {"allowed":["Email","MessagingServiceA","MessagingServiceB","MessagingServiceC"]}],
  ["invalid_email", ""],
  ["invalid_uri", ""],
  ["invalid_date_time", ""],
  ["lone_surrogate", ""],
  ["invalid_utf8", ""],
  ["too_deep", ""],
  ["malformed_json", ""],
  ["unreadable", ""],
  ["unknown_pointer", ""],
  ["more_issues", ""],
];
