/* Italian. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Italian. */
export const it: LocalePack = /* @__PURE__ */ pack("it", {
  required: "Compila questo campo",
  number: "Inserisci un numero",
  unknown_member: "Questo campo non è previsto qui",
  duplicate_member: "Compila questo campo una sola volta",
  too_few_items: { one: "Scegli almeno # elemento", other: "Scegli almeno # elementi" },
  too_many_items: { one: "Scegli al massimo # elemento", other: "Scegli al massimo # elementi" },
  not_positive: "Inserisci un numero maggiore di 0",
  not_allowed: "Scegli una delle opzioni",
  invalid_email: "Inserisci un indirizzo e-mail come ada@example.org",
  invalid_uri: "Inserisci un indirizzo web completo come https://example.org/",
  invalid_date_time: "Inserisci una data e un’ora valide",
  unreadable: "Questo dato non è leggibile",
  too_low: { other: "Almeno #" },
  too_high: { other: "Al massimo #" },
  invalid_value: "Questo valore non è valido qui",
  more_issues: { one: "C’è # altro problema", other: "Ci sono altri # problemi" },
  summary: { one: "Controlla # campo", other: "Controlla # campi" },
  submit_failed: "Invio non riuscito",
  retry: "Riprova",
});

export default it;
