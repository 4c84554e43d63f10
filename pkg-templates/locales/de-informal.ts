/* German, informal. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in German, who are addressed as `du`. */
export const deInformal: LocalePack = /* @__PURE__ */ pack("de", {
  required: "Bitte fülle dieses Feld aus",
  number: "Gib eine Zahl ein",
  unknown_member: "Dieses Feld ist hier nicht vorgesehen",
  duplicate_member: "Fülle dieses Feld nur einmal aus",
  too_few_items: {
    one: "Wähle mindestens # Eintrag",
    other: "Wähle mindestens # Einträge",
  },
  too_many_items: {
    one: "Wähle höchstens # Eintrag",
    other: "Wähle höchstens # Einträge",
  },
  not_positive: "Gib eine Zahl größer als 0 ein",
  not_allowed: "Wähle eine der Möglichkeiten",
  invalid_email: "Gib eine E-Mail-Adresse wie ada@example.org ein",
  invalid_uri: "Gib eine vollständige Webadresse wie https://example.org/ ein",
  invalid_date_time: "Gib ein gültiges Datum mit Uhrzeit ein",
  unreadable: "Diese Eingabe ist nicht lesbar",
  too_low: { other: "Mindestens #" },
  too_high: { other: "Höchstens #" },
  invalid_value: "Dieser Wert passt hier nicht",
  more_issues: { one: "Es gibt # weiteres Problem", other: "Es gibt # weitere Probleme" },
  summary: { one: "Bitte prüfe # Eingabe", other: "Bitte prüfe # Eingaben" },
  submit_failed: "Das konnte nicht gesendet werden",
  retry: "Erneut versuchen",
});

export default deInformal;
