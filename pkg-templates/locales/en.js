/** English. */
import { plural } from "./plural.js";

const atLeast = plural("en", { one: "Choose at least # item", other: "Choose at least # items" });
const atMost = plural("en", { one: "Choose no more than # item", other: "Choose no more than # items" });
const more = plural("en", { one: "There is # more problem", other: "There are # more problems" });
const summary = plural("en", { one: "Please check # entry", other: "Please check # entries" });
const number = "Enter a number";
const unreadableText = "Remove the characters that cannot be read", unreadable = "This entry cannot be read";

export const en = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Enter something else here"),
  required: "Fill in this field",
  unknown_member: "This field is not expected here",
  duplicate_member: "Fill in this field only once",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Enter a number greater than 0",
  not_finite: number,
  not_allowed: "Choose one of the options",
  invalid_email: "Enter an e-mail address such as ada@example.org",
  invalid_uri: "Enter a full web address such as https://example.org/",
  invalid_date_time: "Enter a valid date and time",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "This could not be sent",
  retry: "Try again",
};

export default en;
