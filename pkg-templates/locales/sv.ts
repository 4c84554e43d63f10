/* Swedish. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Swedish. */
export const sv: LocalePack = /* @__PURE__ */ pack("sv", {
  required: "Fyll i det här fältet",
  number: "Ange ett tal",
  unknown_member: "Det här fältet förväntas inte här",
  duplicate_member: "Fyll i det här fältet bara en gång",
  too_few_items: { other: "Välj minst # alternativ" },
  too_many_items: { other: "Välj högst # alternativ" },
  not_positive: "Ange ett tal större än 0",
  not_allowed: "Välj ett av alternativen",
  invalid_email: "Ange en e-postadress som ada@example.org",
  invalid_uri: "Ange en fullständig webbadress som https://example.org/",
  invalid_date_time: "Ange ett giltigt datum med tid",
  unreadable: "Det går inte att läsa uppgiften",
  too_low: { other: "Minst #" },
  too_high: { other: "Högst #" },
  invalid_value: "Värdet passar inte här",
  more_issues: { other: "Det finns # problem till" },
  summary: { other: "Kontrollera # fält" },
  submit_failed: "Det gick inte att skicka",
  retry: "Försök igen",
});

export default sv;
