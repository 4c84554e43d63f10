/** The search dialog. Loaded when it is opened for the first time. */
import MiniSearch from "minisearch";
import { FIELDS } from "./search-options.js";

const MOST = 12;

/**
 * Creates an element with properties and children.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {object} properties @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** Creates the dialog. @param {URL} root the address of the site @returns {() => void} opens it */
export function createSearch(root) {
  const input = make("input", {
    id: "query",
    type: "search",
    autocomplete: "off",
    spellcheck: false,
  });
  const label = make("label", { htmlFor: input.id }, "Search");
  const form = make("form", { method: "dialog" }, label, input, make("button", {}, "Close"));
  const status = make("p", { role: "status" });
  const list = make("ol", {});
  const dialog = make("dialog", { className: "search", ariaLabel: "Search" }, form, status, list);
  document.body.append(dialog);
  const index = fetch(new URL("search.json", root))
    .then((answer) => answer.text())
    .then((json) => MiniSearch.loadJSON(json, FIELDS))
    .catch(() => undefined);

  async function show() {
    const text = input.value.trim();
    const loaded = await index;
    if (text !== input.value.trim()) return; // typed on in the meantime
    const results = text && loaded ? loaded.search(text) : [];
    list.replaceChildren(...results.slice(0, MOST).map((result) => itemOf(result, root)));
    const nothing = text && results.length === 0 ? `Nothing found for “${text}”.` : "";
    status.textContent = loaded ? nothing : "The search could not be loaded. Reload the page.";
  }
  input.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) =>
    move(event, [input, ...list.querySelectorAll("a")]),
  );
  dialog.addEventListener("click", ({ target }) => {
    const isLink = target instanceof Element && target.closest("a");
    if (target === dialog || isLink) dialog.close();
  });
  return () => {
    dialog.showModal();
    input.select();
  };
}

/**
 * Moves between the field and the results by the arrow keys. Enter in the field opens the first result.
 * @param {KeyboardEvent} event @param {HTMLElement[]} stops the field, then the results
 */
function move(event, stops) {
  const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (event.key === "Enter" && at === 0) {
    event.preventDefault();
    stops[1]?.click();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || at < 0) return;
  event.preventDefault();
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}

/** Returns a result as an item of the list. @param {import("minisearch").SearchResult} result @param {URL} root */
function itemOf({ id, title, page, excerpt }, root) {
  const parts = [make("b", {}, title), make("span", {}, page), make("small", {}, excerpt)];
  return make("li", {}, make("a", { href: new URL(id, root).href }, ...parts));
}
