/* Polish. */
import type { LocalePack } from "../validate/index.ts";
import { pack } from "./pack.ts";

/** The texts for shoppers in Polish. */
export const pl: LocalePack = /* @__PURE__ */ pack("pl", {
  required: "Wypełnij to pole",
  number: "Wpisz liczbę",
  unknown_member: "Tego pola tu nie przewidziano",
  duplicate_member: "Wypełnij to pole tylko raz",
  too_few_items: {
    one: "Wybierz co najmniej # pozycję",
    few: "Wybierz co najmniej # pozycje",
    other: "Wybierz co najmniej # pozycji",
  },
  too_many_items: {
    one: "Wybierz najwyżej # pozycję",
    few: "Wybierz najwyżej # pozycje",
    other: "Wybierz najwyżej # pozycji",
  },
  not_positive: "Wpisz liczbę większą od 0",
  not_allowed: "Wybierz jedną z opcji",
  invalid_email: "Wpisz adres e-mail, na przykład ada@example.org",
  invalid_uri: "Wpisz pełny adres strony, na przykład https://example.org/",
  invalid_date_time: "Wpisz prawidłową datę i godzinę",
  unreadable: "Tej wartości nie można odczytać",
  too_low: { other: "Co najmniej #" },
  too_high: { other: "Najwyżej #" },
  invalid_value: "Ta wartość tu nie pasuje",
  more_issues: {
    one: "Jest jeszcze # problem",
    few: "Są jeszcze # problemy",
    other: "Jest jeszcze # problemów",
  },
  summary: { one: "Sprawdź # pole", few: "Sprawdź # pola", other: "Sprawdź # pól" },
  submit_failed: "Nie udało się wysłać",
  retry: "Spróbuj ponownie",
});

export default pl;
