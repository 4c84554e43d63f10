/* French, informal. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in French, who are addressed as `tu`. */
export const frInformal: LocalePack = /* @__PURE__ */ pack("fr", {
  required: "Remplis ce champ",
  number: "Saisis un nombre",
  unknown_member: "Ce champ n’est pas prévu ici",
  duplicate_member: "Ne remplis ce champ qu’une seule fois",
  too_few_items: { one: "Choisis au moins # élément", other: "Choisis au moins # éléments" },
  too_many_items: {
    one: "Choisis # élément au maximum",
    other: "Choisis # éléments au maximum",
  },
  not_positive: "Saisis un nombre supérieur à 0",
  not_allowed: "Choisis l’une des options proposées",
  invalid_email: "Saisis une adresse e-mail comme ada@example.org",
  invalid_uri: "Saisis une adresse web complète comme https://example.org/",
  invalid_date_time: "Saisis une date et une heure valides",
  unreadable: "Cette saisie est illisible",
  too_low: { other: "Au moins #" },
  too_high: { other: "Au maximum #" },
  invalid_value: "Cette valeur ne convient pas ici",
  more_issues: { one: "Il y a # autre problème", other: "Il y a # autres problèmes" },
  summary: { one: "Vérifie # champ", other: "Vérifie # champs" },
  submit_failed: "L’envoi a échoué",
  retry: "Réessayer",
});

export default frInformal;
