/** German. */
import { plural } from "./plural.js";

const atLeast = plural("de", { one: "Wählen Sie mindestens # Eintrag", other: "Wählen Sie mindestens # Einträge" });
const atMost = plural("de", { one: "Wählen Sie höchstens # Eintrag", other: "Wählen Sie höchstens # Einträge" });
const more = plural("de", { one: "Es gibt # weiteres Problem", other: "Es gibt # weitere Probleme" });
const summary = plural("de", { one: "Bitte prüfen Sie # Eingabe", other: "Bitte prüfen Sie # Eingaben" });
const number = "Geben Sie eine Zahl ein";
const unreadableText = "Entfernen Sie die unlesbaren Zeichen", unreadable = "Diese Eingabe ist nicht lesbar";

export const de = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Geben Sie hier etwas anderes ein"),
  required: "Bitte füllen Sie dieses Feld aus",
  unknown_member: "Dieses Feld ist hier nicht vorgesehen",
  duplicate_member: "Füllen Sie dieses Feld nur einmal aus",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Geben Sie eine Zahl größer als 0 ein",
  not_finite: number,
  not_allowed: "Wählen Sie eine der Möglichkeiten",
  invalid_email: "Geben Sie eine E-Mail-Adresse wie ada@example.org ein",
  invalid_uri: "Geben Sie eine vollständige Webadresse wie https://example.org/ ein",
  invalid_date_time: "Geben Sie ein gültiges Datum mit Uhrzeit ein",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Das konnte nicht gesendet werden",
  retry: "Erneut versuchen",
};

export default de;
