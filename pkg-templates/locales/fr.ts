/* French. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in French. */
export const fr: LocalePack = /* @__PURE__ */ pack("fr", {
  required: "Veuillez remplir ce champ",
  number: "Saisissez un nombre",
  unknown_member: "Ce champ n’est pas prévu ici",
  duplicate_member: "Ne remplissez ce champ qu’une seule fois",
  too_few_items: { one: "Choisissez au moins # élément", other: "Choisissez au moins # éléments" },
  too_many_items: {
    one: "Choisissez # élément au maximum",
    other: "Choisissez # éléments au maximum",
  },
  not_positive: "Saisissez un nombre supérieur à 0",
  not_allowed: "Choisissez l’une des options proposées",
  invalid_email: "Saisissez une adresse e-mail comme ada@example.org",
  invalid_uri: "Saisissez une adresse web complète comme https://example.org/",
  invalid_date_time: "Saisissez une date et une heure valides",
  unreadable: "Cette saisie est illisible",
  too_low: { other: "Au moins #" },
  too_high: { other: "Au maximum #" },
  invalid_value: "Cette valeur ne convient pas ici",
  more_issues: { one: "Il y a # autre problème", other: "Il y a # autres problèmes" },
  summary: { one: "Veuillez vérifier # champ", other: "Veuillez vérifier # champs" },
  submit_failed: "L’envoi a échoué",
  retry: "Réessayer",
});

export default fr;
