/** Portuguese. */
import { plural } from "./plural.js";

const atLeast = plural("pt", { one: "Escolha pelo menos # item", other: "Escolha pelo menos # itens" });
const atMost = plural("pt", { one: "Escolha no máximo # item", other: "Escolha no máximo # itens" });
const more = plural("pt", { one: "Há mais # problema", other: "Há mais # problemas" });
const summary = plural("pt", { one: "Verifique # campo", other: "Verifique # campos" });
const number = "Introduza um número";
const unreadableText = "Remova os caracteres ilegíveis", unreadable = "Não é possível ler este dado";

export const pt = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Introduza outro valor"),
  required: "Preencha este campo",
  unknown_member: "Este campo não é esperado aqui",
  duplicate_member: "Preencha este campo apenas uma vez",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Introduza um número maior que 0",
  not_finite: number,
  not_allowed: "Escolha uma das opções",
  invalid_email: "Introduza um endereço de e-mail como ada@example.org",
  invalid_uri: "Introduza um endereço web completo como https://example.org/",
  invalid_date_time: "Introduza uma data e uma hora válidas",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Não foi possível enviar",
  retry: "Tentar de novo",
};

export default pt;
