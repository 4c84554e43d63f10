/** Italian. */
import { plural } from "./plural.js";

const atLeast = plural("it", { one: "Scegli almeno # elemento", other: "Scegli almeno # elementi" });
const atMost = plural("it", { one: "Scegli al massimo # elemento", other: "Scegli al massimo # elementi" });
const more = plural("it", { one: "C’è # altro problema", other: "Ci sono altri # problemi" });
const summary = plural("it", { one: "Controlla # campo", other: "Controlla # campi" });
const number = "Inserisci un numero";
const unreadableText = "Rimuovi i caratteri illeggibili", unreadable = "Questo dato non è leggibile";

export const it = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Inserisci un valore diverso"),
  required: "Compila questo campo",
  unknown_member: "Questo campo non è previsto qui",
  duplicate_member: "Compila questo campo una sola volta",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Inserisci un numero maggiore di 0",
  not_finite: number,
  not_allowed: "Scegli una delle opzioni",
  invalid_email: "Inserisci un indirizzo e-mail come ada@example.org",
  invalid_uri: "Inserisci un indirizzo web completo come https://example.org/",
  invalid_date_time: "Inserisci una data e un’ora valide",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Invio non riuscito",
  retry: "Riprova",
};

export default it;
