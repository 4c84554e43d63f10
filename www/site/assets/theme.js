/** Sets the chosen colours before the page is drawn. */
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
