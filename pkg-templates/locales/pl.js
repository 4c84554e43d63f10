/** Polish. */
import { plural } from "./plural.js";

const atLeast = plural("pl", { one: "Wybierz co najmniej # pozycję", few: "Wybierz co najmniej # pozycje", other: "Wybierz co najmniej # pozycji" });
const atMost = plural("pl", { one: "Wybierz najwyżej # pozycję", few: "Wybierz najwyżej # pozycje", other: "Wybierz najwyżej # pozycji" });
const more = plural("pl", { one: "Jest jeszcze # problem", few: "Są jeszcze # problemy", other: "Jest jeszcze # problemów" });
const summary = plural("pl", { one: "Sprawdź # pole", few: "Sprawdź # pola", other: "Sprawdź # pól" });
const number = "Wpisz liczbę";
const unreadableText = "Usuń nieczytelne znaki", unreadable = "Tej wartości nie można odczytać";

export const pl = {
  invalid_type: ({ meta }) => (meta.expected === "number" ? number : "Wpisz inną wartość"),
  required: "Wypełnij to pole",
  unknown_member: "Tego pola tu nie przewidziano",
  duplicate_member: "Wypełnij to pole tylko raz",
  too_few_items: ({ meta }) => atLeast(meta.minimum),
  too_many_items: ({ meta }) => atMost(meta.maximum),
  not_positive: "Wpisz liczbę większą od 0",
  not_finite: number,
  not_allowed: "Wybierz jedną z opcji",
  invalid_email: "Wpisz adres e-mail, na przykład ada@example.org",
  invalid_uri: "Wpisz pełny adres strony, na przykład https://example.org/",
  invalid_date_time: "Wpisz prawidłową datę i godzinę",
  lone_surrogate: unreadableText,
  invalid_utf8: unreadableText,
  too_deep: unreadable,
  malformed_json: unreadable,
  unreadable,
  unknown_pointer: unreadable,
  more_issues: ({ count }) => more(count),
  summary: ({ count }) => summary(count),
  submit_failed: "Nie udało się wysłać",
  retry: "Spróbuj ponownie",
};

export default pl;
