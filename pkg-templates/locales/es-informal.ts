/* Spanish, informal. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Spanish, who are addressed as `tú`. */
export const esInformal: LocalePack = /* @__PURE__ */ pack("es", {
  required: "Rellena este campo",
  number: "Introduce un número",
  unknown_member: "Este campo no está previsto aquí",
  duplicate_member: "Rellena este campo una sola vez",
  too_few_items: { one: "Elige al menos # elemento", other: "Elige al menos # elementos" },
  too_many_items: { one: "Elige como máximo # elemento", other: "Elige como máximo # elementos" },
  not_positive: "Introduce un número mayor que 0",
  not_allowed: "Elige una de las opciones",
  invalid_email: "Introduce una dirección de correo como ada@example.org",
  invalid_uri: "Introduce una dirección web completa como https://example.org/",
  invalid_date_time: "Introduce una fecha y una hora válidas",
  unreadable: "Este dato no se puede leer",
  too_low: { other: "Como mínimo #" },
  too_high: { other: "Como máximo #" },
  invalid_value: "Este valor no es válido aquí",
  more_issues: { one: "Hay # problema más", other: "Hay # problemas más" },
  summary: { one: "Revisa # campo", other: "Revisa # campos" },
  submit_failed: "No se ha podido enviar",
  retry: "Intentar de nuevo",
});

export default esInformal;
