/** The search dialog. Loaded when it is opened for the first time. */
import MiniSearch from "minisearch";
import { FIELDS } from "./search-options.js";

const MOST = 12;

/** Creates the dialog. @param {URL} root the address of the site @returns {() => void} opens it */
export function createSearch(root) {
  const dialog = document.createElement("dialog");
  dialog.className = "search";
  dialog.ariaLabel = "Search";
  dialog.innerHTML =
    '<form method="dialog"><label for="query">Search</label><input id="query" type="search" autocomplete="off" spellcheck="false" enterkeyhint="search"><button>Close</button></form><p role="status"></p><ol></ol>';
  document.body.append(dialog);
  const [input, status, list] = ["input", "p", "ol"].map((name) => dialog.querySelector(name));
  const index = fetch(new URL("search.json", root))
    .then((answer) => answer.text())
    .then((json) => MiniSearch.loadJSON(json, FIELDS));

  async function show() {
    const text = input.value.trim();
    const results = text ? (await index).search(text) : [];
    if (text !== input.value.trim()) return; // typed on in the meantime
    list.replaceChildren(...results.slice(0, MOST).map((it) => itemOf(it, root)));
    status.textContent = text && results.length === 0 ? `Nothing found for “${text}”.` : "";
  }
  input.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) => move(event, dialog));
  dialog.addEventListener("click", (event) => {
    const isLink = event.target instanceof Element && event.target.closest("a");
    if (event.target === dialog || isLink) dialog.close();
  });
  return () => {
    dialog.showModal();
    input.select();
  };
}

/** Moves between the results by the arrow keys. Enter in the field opens the first. */
function move(event, dialog) {
  const stops = [dialog.querySelector("input"), ...dialog.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  if (event.key === "Enter" && at === 0) {
    event.preventDefault();
    stops[1]?.click();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || at < 0) return;
  event.preventDefault();
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
}

function itemOf({ id, title, page, excerpt }, root) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = new URL(id, root).href;
  const part = (name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };
  link.append(part("b", title), part("span", page), part("small", excerpt));
  item.append(link);
  return item;
}
