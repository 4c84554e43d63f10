/** Fills in the checkout page on the server: for a new order, or with a sent order and its errors. */
import { worded } from "../shared/messages.js";

const OF_GROUPS = new Set(["too_few_items", "too_many_items"]);
const LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** The initial values of a new order. */
export function freshOrder() {
  const letters = [...crypto.getRandomValues(new Uint8Array(6))].map(
    (byte) => LETTERS[byte % LETTERS.length],
  );
  return new Map([
    ["reference", `SH-${letters.join("")}`],
    ["trigger.date", new Date().toISOString()],
    ["attempt", crypto.randomUUID()],
  ]);
}

/**
 * Returns the checkout page with these values and errors.
 * @param {Response} page the static page
 * @param {{values: Map<string, any>, issues?: object[], failure?: string}} state
 * @returns {Response}
 */
export function filled(page, { values, issues = [], failure }) {
  const problems = problemsByPlace(issues);
  const places = placesByField(issues);
  const rest = [...problems].filter(([place]) => place === "").flatMap(([, texts]) => texts);
  return new HTMLRewriter()
    .on("input", { element: (input) => fill(input, values, places) })
    .on("[data-problem]", { element: (place) => fillProblem(place, problems) })
    .on("bdi.reference", {
      element: (element) => element.setInnerContent(values.get("reference") ?? ""),
    })
    .on("#failure", { element: (element) => fillFailure(element, failure, rest) })
    .transform(page);
}

/**
 * Returns the page. If the shop uses a service on another origin, the page says that this other service sends
 * the notifications.
 * @param {Response} page the static page
 * @param {string} [service] URL of the service
 */
export function withSender(page, service) {
  if (!service) return page;
  const words = `Sent by ${new URL(service).host}, if that service has notifications turned on for this shop.`;
  return new HTMLRewriter()
    .on("[data-sender]", { element: (hint) => hint.setInnerContent(words) })
    .transform(page);
}

/** Returns where an error is shown on the page: the name of its field, or of its group of fields. */
const placeOf = ({ code, path, name }) => (OF_GROUPS.has(code) ? path.join(".") : (name ?? ""));
const placesByField = (issues) =>
  new Map(issues.filter(({ name }) => name !== null).map((issue) => [issue.name, placeOf(issue)]));

function problemsByPlace(issues) {
  const problems = new Map();
  for (const issue of issues) {
    const place = placeOf(issue);
    const text = place ? worded(issue) : `${issue.path.join(".")} ${issue.message}`;
    if (!problems.has(place)) problems.set(place, []);
    problems.get(place).push(text);
  }
  return problems;
}

const idOf = (place) => `problem-${place.replaceAll(".", "-")}`;

function fill(input, values, places) {
  const name = input.getAttribute("name");
  if (input.getAttribute("type") === "checkbox") {
    if (values.get(name)?.includes(input.getAttribute("value"))) input.setAttribute("checked", "");
  } else if (values.has(name) && !name.endsWith(".offeringId")) {
    input.setAttribute("value", values.get(name));
  }
  if (!places.has(name)) return;
  if (places.get(name) === name) input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", idOf(places.get(name)));
  if (input.getAttribute("type") !== "hidden") input.setAttribute("autofocus", ""); // browsers focus the first one
}

function fillProblem(element, problems) {
  const place = element.getAttribute("data-problem");
  if (!problems.has(place)) return;
  element.setAttribute("id", idOf(place));
  element.setInnerContent(problems.get(place)[0]);
}

function fillFailure(element, failure, rest) {
  if (failure || rest.length > 0)
    for (const [name, value] of [
      ["tabindex", "-1"],
      ["autofocus", ""],
    ])
      element.setAttribute(name, value);
  if (failure)
    element.append(`<h3>Something went wrong</h3><p>${escaped(failure)}</p>`, { html: true });
  else if (rest.length > 0)
    element.append(`<h3>Something is missing</h3><p>${escaped(rest.join("; "))}</p>`, {
      html: true,
    });
}

export const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
