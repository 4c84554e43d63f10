/** The shop's own error messages, by code. The page and the server use the same messages. */
export const MESSAGES = {
  required: ({ path }) =>
    path.includes("email")
      ? "Please enter your e-mail address, so that we can send you your page."
      : "Please fill this in.",
  invalid_email: "Please enter a complete e-mail address, like ada@example.org.",
  invalid_type: "Please enter a number, such as 2 or 0.5.",
  not_positive: "Please enter a number above 0, or leave it empty.",
  not_finite: "Please enter a smaller number.",
  too_few_items: "Choose at least one: a tree, or half a kilo of plastic.",
};

/** @param {{code: string, message: string, path: (string | number)[]}} issue */
export function worded(issue) {
  const words = MESSAGES[issue.code];
  return (typeof words === "function" ? words(issue) : words) ?? issue.message;
}
