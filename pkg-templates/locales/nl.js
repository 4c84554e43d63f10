/** Dutch. */
import { plural } from "./plural.js";

const atLeast = plural("nl", { one: "Kies minstens # onderdeel", other: "Kies minstens # onderdelen" });
const atMost = plural("nl", { one: "Kies hoogstens # onderdeel", other: "Kies hoogstens # onderdelen" });
const more = plural("nl", { one: "Er is nog # probleem", other: "Er zijn nog # problemen" });
const summary = plural("nl", { one: "Controleer # veld", other: "Controleer # velden" });
const number = "Vul een getal in";
const unreadableText = "Verwijder de onleesbare tekens", unreadable = "Deze invoer is niet leesbaar";

export const nl = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Vul hier iets anders in"),
  required: "Vul dit veld in",
  unknown_member: "Dit veld wordt hier niet verwacht",
  duplicate_member: "Vul dit veld maar één keer in",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Vul een getal groter dan 0 in",
  not_finite: number,
  not_allowed: "Kies een van de mogelijkheden",
  invalid_email: "Vul een e-mailadres in zoals ada@example.org",
  invalid_uri: "Vul een volledig webadres in zoals https://example.org/",
  invalid_date_time: "Vul een geldige datum en tijd in",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Het verzenden is niet gelukt",
  retry: "Opnieuw proberen",
};

export default nl;
