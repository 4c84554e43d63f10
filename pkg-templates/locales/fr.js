/** French. */
import { plural } from "./plural.js";

const atLeast = plural("fr", { one: "Choisissez au moins # élément", other: "Choisissez au moins # éléments" });
const atMost = plural("fr", { one: "Choisissez # élément au maximum", other: "Choisissez # éléments au maximum" });
const more = plural("fr", { one: "Il y a # autre problème", other: "Il y a # autres problèmes" });
const summary = plural("fr", { one: "Veuillez vérifier # champ", other: "Veuillez vérifier # champs" });
const number = "Saisissez un nombre";
const unreadableText = "Supprimez les caractères illisibles", unreadable = "Cette saisie est illisible";

export const fr = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Saisissez une autre valeur"),
  required: "Veuillez remplir ce champ",
  unknown_member: "Ce champ n’est pas prévu ici",
  duplicate_member: "Ne remplissez ce champ qu’une seule fois",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Saisissez un nombre supérieur à 0",
  not_finite: number,
  not_allowed: "Choisissez l’une des options proposées",
  invalid_email: "Saisissez une adresse e-mail comme ada@example.org",
  invalid_uri: "Saisissez une adresse web complète comme https://example.org/",
  invalid_date_time: "Saisissez une date et une heure valides",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "L’envoi a échoué",
  retry: "Réessayer",
};

export default fr;
