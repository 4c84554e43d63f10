/* Danish. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Danish. */
export const da: LocalePack = /* @__PURE__ */ pack("da", {
  required: "Udfyld dette felt",
  number: "Angiv et tal",
  unknown_member: "Dette felt forventes ikke her",
  duplicate_member: "Udfyld kun dette felt én gang",
  too_few_items: { one: "Vælg mindst # mulighed", other: "Vælg mindst # muligheder" },
  too_many_items: { one: "Vælg højst # mulighed", other: "Vælg højst # muligheder" },
  not_positive: "Angiv et tal større end 0",
  not_allowed: "Vælg en af mulighederne",
  invalid_email: "Angiv en e-mailadresse som ada@example.org",
  invalid_uri: "Angiv en fuld webadresse som https://example.org/",
  invalid_date_time: "Angiv en gyldig dato med klokkeslæt",
  unreadable: "Denne oplysning kan ikke læses",
  too_low: { other: "Mindst #" },
  too_high: { other: "Højst #" },
  invalid_value: "Værdien passer ikke her",
  more_issues: { one: "Der er # problem mere", other: "Der er # problemer mere" },
  summary: { one: "Kontrollér # felt", other: "Kontrollér # felter" },
  submit_failed: "Det kunne ikke sendes",
  retry: "Prøv igen",
});

export default da;
