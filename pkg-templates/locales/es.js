/** Spanish. */
import { plural } from "./plural.js";

const atLeast = plural("es", { one: "Elija al menos # elemento", other: "Elija al menos # elementos" });
const atMost = plural("es", { one: "Elija como máximo # elemento", other: "Elija como máximo # elementos" });
const more = plural("es", { one: "Hay # problema más", other: "Hay # problemas más" });
const summary = plural("es", { one: "Revise # campo", other: "Revise # campos" });
const number = "Introduzca un número";
const unreadableText = "Elimine los caracteres ilegibles", unreadable = "Este dato no se puede leer";

export const es = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Introduzca otro valor"),
  required: "Rellene este campo",
  unknown_member: "Este campo no está previsto aquí",
  duplicate_member: "Rellene este campo una sola vez",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Introduzca un número mayor que 0",
  not_finite: number,
  not_allowed: "Elija una de las opciones",
  invalid_email: "Introduzca una dirección de correo como ada@example.org",
  invalid_uri: "Introduzca una dirección web completa como https://example.org/",
  invalid_date_time: "Introduzca una fecha y una hora válidas",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "No se ha podido enviar",
  retry: "Intentar de nuevo",
};

export default es;
