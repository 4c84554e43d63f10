/** The checkout's page with what the server knows: a fresh order, or one that was posted and has problems. */
import { worded } from "../shared/messages.js";

const OF_GROUPS = new Set(["too_few_items", "too_many_items"]);
const LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** What a new order begins with. */
export function freshOrder() {
  const letters = [...crypto.getRandomValues(new Uint8Array(6))].map((byte) => LETTERS[byte % LETTERS.length]);
  return new Map([
    ["reference", `SH-${letters.join("")}`],
    ["trigger.date", new Date().toISOString()],
    ["attempt", crypto.randomUUID()],
  ]);
}

/**
 * @param {Response} page the static one
 * @param {{values: Map<string, string>, issues?: object[], failure?: string}} state
 * @returns {Response}
 */
export function filled(page, { values, issues = [], failure }) {
  const problems = problemsByPlace(issues);
  const rest = [...problems].filter(([place]) => place === "").flatMap(([, texts]) => texts);
  return new HTMLRewriter()
    .on("input", { element: (input) => fill(input, values, problems) })
    .on("[data-problem]", { element: (place) => fillProblem(place, problems) })
    .on("bdi.reference", { element: (element) => element.setInnerContent(values.get("reference") ?? "") })
    .on("#failure", { element: (element) => fillFailure(element, failure, rest) })
    .transform(page);
}

function problemsByPlace(issues) {
  const problems = new Map();
  for (const issue of issues) {
    const place = OF_GROUPS.has(issue.code) ? issue.path.join(".") : (issue.name ?? "");
    const text = place ? worded(issue) : `${issue.path.join(".")} ${issue.message}`;
    problems.set(place, [...(problems.get(place) ?? []), text]);
  }
  return problems;
}

const idOf = (place) => `problem-${place.replaceAll(".", "-")}`;

function fill(input, values, problems) {
  const name = input.getAttribute("name");
  if (input.getAttribute("type") === "checkbox") {
    if (values.get(name) === input.getAttribute("value")) input.setAttribute("checked", "");
  } else if (values.has(name) && !name.endsWith(".offeringId")) {
    input.setAttribute("value", values.get(name));
  }
  if (!problems.has(name)) return;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", idOf(name));
}

function fillProblem(element, problems) {
  const place = element.getAttribute("data-problem");
  if (!problems.has(place)) return;
  element.setAttribute("id", idOf(place));
  element.setInnerContent(problems.get(place)[0]);
}

function fillFailure(element, failure, rest) {
  if (failure) element.append(`<h3>That did not work</h3><p>${escaped(failure)}</p>`, { html: true });
  else if (rest.length > 0) element.append(`<h3>Something is missing</h3><p>${escaped(rest.join("; "))}</p>`, { html: true });
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
