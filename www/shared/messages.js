/**
 * The shop's own words for what can be wrong, by code: the same in the page and from its server.
 */
export const MESSAGES = {
  required: ({ path }) =>
    path.includes("email") ? "We need an address to send your page to." : "Please fill this in.",
  invalid_email: "Not a whole e-mail address yet. One looks like ada@example.org.",
  invalid_type: "Please write a number, such as 2 or 0.5.",
  not_positive: "Choose more than nothing, or leave it empty.",
  not_finite: "That is more than anybody can count.",
  too_few_items: "Choose at least one: a tree, or half a kilo of plastic.",
};

/** @param {{code: string, message: string, path: (string | number)[]}} issue */
export function worded(issue) {
  const words = MESSAGES[issue.code];
  return (typeof words === "function" ? words(issue) : words) ?? issue.message;
}
