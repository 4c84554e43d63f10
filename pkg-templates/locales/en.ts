/* English. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in English. */
export const en: LocalePack = /* @__PURE__ */ pack("en", {
  required: "Fill in this field",
  number: "Enter a number",
  unknown_member: "This field is not used here",
  duplicate_member: "Fill in this field only once",
  too_few_items: { one: "Choose at least # item", other: "Choose at least # items" },
  too_many_items: { one: "Choose at most # item", other: "Choose at most # items" },
  not_positive: "Enter a number greater than 0",
  not_allowed: "Choose one of the options",
  invalid_email: "Enter an e-mail address such as ada@example.org",
  invalid_uri: "Enter a web address such as https://example.org/",
  invalid_date_time: "Enter a valid date and time",
  unreadable: "This entry cannot be read",
  too_low: { other: "At least #" },
  too_high: { other: "At most #" },
  invalid_value: "This entry cannot be used",
  more_issues: { one: "There is # more problem", other: "There are # more problems" },
  summary: { one: "Please check # entry", other: "Please check # entries" },
  submit_failed: "This could not be sent",
  retry: "Try again",
});

export default en;
