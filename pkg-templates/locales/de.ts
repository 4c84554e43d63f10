/* German. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in German. */
export const de: LocalePack = /* @__PURE__ */ pack("de", {
  required: "Bitte füllen Sie dieses Feld aus",
  number: "Geben Sie eine Zahl ein",
  unknown_member: "Dieses Feld ist hier nicht vorgesehen",
  duplicate_member: "Füllen Sie dieses Feld nur einmal aus",
  too_few_items: {
    one: "Wählen Sie mindestens # Eintrag",
    other: "Wählen Sie mindestens # Einträge",
  },
  too_many_items: {
    one: "Wählen Sie höchstens # Eintrag",
    other: "Wählen Sie höchstens # Einträge",
  },
  not_positive: "Geben Sie eine Zahl größer als 0 ein",
  not_allowed: "Wählen Sie eine der Möglichkeiten",
  invalid_email: "Geben Sie eine E-Mail-Adresse wie ada@example.org ein",
  invalid_uri: "Geben Sie eine vollständige Webadresse wie https://example.org/ ein",
  invalid_date_time: "Geben Sie ein gültiges Datum mit Uhrzeit ein",
  unreadable: "Diese Eingabe ist nicht lesbar",
  too_low: { other: "Mindestens #" },
  too_high: { other: "Höchstens #" },
  invalid_value: "Dieser Wert passt hier nicht",
  more_issues: { one: "Es gibt # weiteres Problem", other: "Es gibt # weitere Probleme" },
  summary: { one: "Bitte prüfen Sie # Eingabe", other: "Bitte prüfen Sie # Eingaben" },
  submit_failed: "Das konnte nicht gesendet werden",
  retry: "Erneut versuchen",
});

export default de;
