/* Spanish. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Spanish. */
export const es: LocalePack = /* @__PURE__ */ pack("es", {
  required: "Rellene este campo",
  number: "Introduzca un número",
  unknown_member: "Este campo no está previsto aquí",
  duplicate_member: "Rellene este campo una sola vez",
  too_few_items: { one: "Elija al menos # elemento", other: "Elija al menos # elementos" },
  too_many_items: { one: "Elija como máximo # elemento", other: "Elija como máximo # elementos" },
  not_positive: "Introduzca un número mayor que 0",
  not_allowed: "Elija una de las opciones",
  invalid_email: "Introduzca una dirección de correo como ada@example.org",
  invalid_uri: "Introduzca una dirección web completa como https://example.org/",
  invalid_date_time: "Introduzca una fecha y una hora válidas",
  unreadable: "Este dato no se puede leer",
  too_low: { other: "Como mínimo #" },
  too_high: { other: "Como máximo #" },
  invalid_value: "Este valor no es válido aquí",
  more_issues: { one: "Hay # problema más", other: "Hay # problemas más" },
  summary: { one: "Revise # campo", other: "Revise # campos" },
  submit_failed: "No se ha podido enviar",
  retry: "Intentar de nuevo",
});

export default es;
