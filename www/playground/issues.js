/** The list of the issues below the editor. */
import { element, show } from "../pages/elements.js";

const MOST_SHOWN = 20;
/** Milliseconds after the last change until a screen reader is told how many issues there are. */
const QUIET_MS = 800;
let timer;

/**
 * Shows the issues. The button of an issue selects its place.
 * @param {import("./problems.js").Problem[]} problems
 * @param {(problem: import("./problems.js").Problem) => void} onChoose
 */
export function showIssues(problems, onChoose) {
  const rows = problems.slice(0, MOST_SHOWN).map((problem) => row(problem, onChoose));
  const rest = problems.length - rows.length;
  if (rest > 0) rows.push(element("li", {}, `and ${rest} more`));
  const status = element("p", { role: "status", class: "visually-hidden" });
  show(
    "[data-issues]",
    element("p", { class: problems.length > 0 ? "bad" : "good" }, summary(problems.length)),
    element("ul", {}, ...rows),
    status,
  );
  clearTimeout(timer);
  timer = setTimeout(() => {
    status.textContent = summary(problems.length);
  }, QUIET_MS);
}

const summary = (count) => {
  if (count === 0) return "Valid: no issues";
  return count === 1 ? "1 issue" : `${count} issues`;
};

function row(problem, onChoose) {
  const { pointer, code, message } = problem;
  const place = element("button", { type: "button", class: "place" }, pointer || "whole request");
  place.addEventListener("click", () => onChoose(problem));
  return element("li", {}, place, ` ${message} `, element("code", {}, code));
}
