/* Dutch. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Dutch. */
export const nl: LocalePack = /* @__PURE__ */ pack("nl", {
  required: "Vul dit veld in",
  number: "Vul een getal in",
  unknown_member: "Dit veld wordt hier niet verwacht",
  duplicate_member: "Vul dit veld maar één keer in",
  too_few_items: { one: "Kies minstens # onderdeel", other: "Kies minstens # onderdelen" },
  too_many_items: { one: "Kies hoogstens # onderdeel", other: "Kies hoogstens # onderdelen" },
  not_positive: "Vul een getal groter dan 0 in",
  not_allowed: "Kies een van de mogelijkheden",
  invalid_email: "Vul een e-mailadres in zoals ada@example.org",
  invalid_uri: "Vul een volledig webadres in zoals https://example.org/",
  invalid_date_time: "Vul een geldige datum en tijd in",
  unreadable: "Deze invoer is niet leesbaar",
  too_low: { other: "Minstens #" },
  too_high: { other: "Hoogstens #" },
  invalid_value: "Deze waarde past hier niet",
  more_issues: { one: "Er is nog # probleem", other: "Er zijn nog # problemen" },
  summary: { one: "Controleer # veld", other: "Controleer # velden" },
  submit_failed: "Het verzenden is niet gelukt",
  retry: "Opnieuw proberen",
});

export default nl;
