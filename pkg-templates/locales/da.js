/** Danish. */
import { plural } from "./plural.js";

const atLeast = plural("da", { one: "Vælg mindst # mulighed", other: "Vælg mindst # muligheder" });
const atMost = plural("da", { one: "Vælg højst # mulighed", other: "Vælg højst # muligheder" });
const more = plural("da", { one: "Der er # problem mere", other: "Der er # problemer mere" });
const summary = plural("da", { one: "Kontrollér # felt", other: "Kontrollér # felter" });
const number = "Angiv et tal";
const unreadableText = "Fjern de ulæselige tegn", unreadable = "Denne oplysning kan ikke læses";

export const da = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Angiv noget andet her"),
  required: "Udfyld dette felt",
  unknown_member: "Dette felt forventes ikke her",
  duplicate_member: "Udfyld kun dette felt én gang",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Angiv et tal større end 0",
  not_finite: number,
  not_allowed: "Vælg en af mulighederne",
  invalid_email: "Angiv en e-mailadresse som ada@example.org",
  invalid_uri: "Angiv en fuld webadresse som https://example.org/",
  invalid_date_time: "Angiv en gyldig dato med klokkeslæt",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Det kunne ikke sendes",
  retry: "Prøv igen",
};

export default da;
