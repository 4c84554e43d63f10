/** Swedish. */
import { plural } from "./plural.js";

const atLeast = plural("sv", { other: "Välj minst # alternativ" });
const atMost = plural("sv", { other: "Välj högst # alternativ" });
const more = plural("sv", { other: "Det finns # problem till" });
const summary = plural("sv", { other: "Kontrollera # fält" });
const number = "Ange ett tal";
const unreadableText = "Ta bort de oläsliga tecknen", unreadable = "Det går inte att läsa uppgiften";

export const sv = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Ange något annat här"),
  required: "Fyll i det här fältet",
  unknown_member: "Det här fältet förväntas inte här",
  duplicate_member: "Fyll i det här fältet bara en gång",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Ange ett tal större än 0",
  not_finite: number,
  not_allowed: "Välj ett av alternativen",
  invalid_email: "Ange en e-postadress som ada@example.org",
  invalid_uri: "Ange en fullständig webbadress som https://example.org/",
  invalid_date_time: "Ange ett giltigt datum med tid",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Det gick inte att skicka",
  retry: "Försök igen",
};

export default sv;
