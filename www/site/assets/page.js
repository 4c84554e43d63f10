/** Adds what needs JavaScript to a page: the search, the choice of colours, and buttons that copy code. */

const root = new URL("./", import.meta.url);
const tools = document.querySelector(".tools");

function button(text, label, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  if (label) element.ariaLabel = label;
  element.addEventListener("click", () => act(element));
  return element;
}

let opened;
async function openSearch() {
  opened ??= import("./search.js").then(({ createSearch }) => createSearch(root));
  (await opened)();
}

function switchTheme() {
  const html = document.documentElement;
  const isDark = html.dataset.theme
    ? html.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  html.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", html.dataset.theme);
}

async function copy(code, element) {
  await navigator.clipboard.writeText(code.textContent.trimEnd());
  element.textContent = "Copied";
  setTimeout(() => (element.textContent = "Copy"), 2_000);
}

const search = button("Search", "", openSearch);
search.className = "open-search";
search.setAttribute("aria-keyshortcuts", "/ Control+K");
const theme = button("◐", "Switch between light and dark", switchTheme);
tools?.append(search, theme);

const pages = document.querySelector(".pages");
const current = pages?.querySelector("[aria-current]");
if (pages && current instanceof HTMLElement)
  pages.scrollTop = current.offsetTop - pages.clientHeight / 2;

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  const isAsked = event.key === "/" || (event.key === "k" && (event.ctrlKey || event.metaKey));
  if (!isAsked || (isTyping && event.key === "/")) return;
  event.preventDefault();
  openSearch();
});

for (const code of document.querySelectorAll("pre")) {
  const copying = button("Copy", "", (element) => copy(code, element));
  copying.className = "copy";
  const box = document.createElement("div");
  box.className = "code";
  code.replaceWith(box);
  box.append(code, copying);
}
