/** The e-mail about a request, in the chosen languages side by side. */
import { element, find, show } from "../pages/elements.js";
import { LANGUAGES, nameOf } from "./languages.js";
import { preview } from "./preview.js";

/** @typedef {{isCreated: boolean, isMailed: boolean, mailOf: (language: string) => Promise<import("impact-pledge/testing").RecordedEmail | undefined>}} Mails */

const FIRST = ["en", "de"];
const SENT =
  "The language is that of the shop's profile. Test keys send their e-mails to the operator's test address.";
const NOT_ASKED =
  'The service sent no e-mail. To ask for one, write "notifications": ["Email"] into the request.';

/** @type {Mails | null} */
let mails = null;
/** Renders an e-mail when it comes into view. */
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) fill(target);
});

/** Shows the e-mails of a new request; null if there is none. @param {Mails | null} given */
export function showMails(given) {
  mails = given;
  find("[data-mail]").hidden = !mails?.isCreated;
  const isMailed = mails?.isMailed ?? false;
  find("[data-languages]").hidden = !isMailed;
  show("[data-mail-hint]", isMailed ? SENT : NOT_ASKED);
  showChosen();
}

/** Makes the checkboxes of the languages. */
export function useLanguages() {
  const boxes = LANGUAGES.map((tag) => {
    const box = element("input", { type: "checkbox", value: tag });
    box.checked = FIRST.includes(tag);
    return element("label", { lang: tag }, box, ` ${nameOf(tag)}`);
  });
  const all = element("button", { type: "button" }, "All 13");
  all.addEventListener("click", () => {
    for (const box of chosenBoxes("")) box.checked = true;
    showChosen();
  });
  const field = find("[data-languages]");
  field.append(...boxes, all);
  field.addEventListener("change", showChosen);
}

/** @returns {any[]} the checkboxes in this state, a pseudo-class */
const chosenBoxes = (state) => [...document.querySelectorAll(`[data-languages] input${state}`)];

/**
 * Adds the e-mails that were chosen, and removes the others. The rest are not moved, because a frame that moves loads
 * again.
 */
function showChosen() {
  const place = find("[data-mails]");
  const chosen = mails?.isMailed ? chosenBoxes(":checked").map(({ value }) => value) : [];
  for (const card of [...place.children])
    if (card.source !== mails || !chosen.includes(card.lang)) card.remove();
  for (const [index, language] of chosen.entries()) {
    const there = place.children[index];
    if (there?.lang !== language) place.insertBefore(card(language), there ?? null);
  }
}

function card(language) {
  const made = element("article", { lang: language }, element("h3", {}, nameOf(language)));
  made.source = mails;
  seen.observe(made);
  return made;
}

async function fill(card) {
  seen.unobserve(card);
  const { lang, source } = card;
  const mail = await source.mailOf(lang);
  if (!mail) return card.append(element("p", {}, "The service sent no e-mail."));
  const row = (name, value) => element("p", { class: "head" }, element("b", {}, name), ` ${value}`);
  card.append(
    row("From:", `${mail.from.name} <${mail.from.email}>`),
    row("To:", mail.to),
    row("Subject:", mail.subject),
    preview(mail.html, `E-mail, ${nameOf(lang)}`, goToTimeline),
    element(
      "details",
      {},
      element("summary", {}, "Plain text"),
      element("pre", { tabindex: "0" }, mail.text),
    ),
  );
}

/** An e-mail has one link: to the timeline, which this page shows. */
function goToTimeline() {
  find("#timeline-title").focus();
}
