/** The code of the request, in tabs for three tools. */
import { element, find, show } from "../pages/elements.js";
import { LOCAL, SAMPLES } from "./samples.js";

const INVALID = "Mend the issues first.";
const NAMES = Object.keys(SAMPLES);

let chosen = NAMES[0];
/** @type {object | null} */
let request = null;
let idempotencyKey = "";

/**
 * Shows the code.
 * @param {object | null | undefined} value the request; null if it is invalid; undefined if it is the same as before
 * @param {string} key the idempotency key
 */
export function showCode(value, key) {
  if (value !== undefined) request = value;
  idempotencyKey = key;
  const text = request ? SAMPLES[chosen]({ ...LOCAL, request, idempotencyKey }) : INVALID;
  show("[data-code]", element("pre", { tabindex: "0" }, text));
  find("[data-copy]").disabled = request === null;
}

/** Makes the tabs. As usual, arrow keys choose a tab, and Tab leads to its content. */
export function useTabs() {
  const tabs = NAMES.map((name) =>
    element(
      "button",
      { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "code" },
      name,
    ),
  );
  const choose = (index) => {
    chosen = NAMES[index];
    for (const [at, tab] of tabs.entries()) {
      tab.ariaSelected = `${at === index}`;
      tab.tabIndex = at === index ? 0 : -1;
    }
    find("[data-code-panel]").setAttribute("aria-labelledby", tabs[index].id);
    showCode(undefined, idempotencyKey);
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(index));
    tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step) return;
      const next = (index + step + tabs.length) % tabs.length;
      choose(next);
      tabs[next].focus();
    });
  }
  show("[data-tabs]", ...tabs);
  choose(0);
}
