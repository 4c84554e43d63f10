/* Portuguese of Portugal. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Portuguese of Portugal. */
export const pt: LocalePack = /* @__PURE__ */ pack("pt", {
  required: "Preencha este campo",
  number: "Introduza um número",
  unknown_member: "Este campo não é esperado aqui",
  duplicate_member: "Preencha este campo apenas uma vez",
  too_few_items: { one: "Escolha pelo menos # item", other: "Escolha pelo menos # itens" },
  too_many_items: { one: "Escolha no máximo # item", other: "Escolha no máximo # itens" },
  not_positive: "Introduza um número maior que 0",
  not_allowed: "Escolha uma das opções",
  invalid_email: "Introduza um endereço de e-mail como ada@example.org",
  invalid_uri: "Introduza um endereço web completo como https://example.org/",
  invalid_date_time: "Introduza uma data e uma hora válidas",
  unreadable: "Não é possível ler este dado",
  too_low: { other: "Pelo menos #" },
  too_high: { other: "No máximo #" },
  invalid_value: "Este valor não é válido aqui",
  more_issues: { one: "Há mais # problema", other: "Há mais # problemas" },
  summary: { one: "Verifique # campo", other: "Verifique # campos" },
  submit_failed: "Não foi possível enviar",
  retry: "Tentar de novo",
});

export default pt;
