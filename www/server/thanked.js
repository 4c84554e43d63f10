/** Makes the thank-you page on the server, for browsers without JavaScript. */
import { waysOf } from "../shared/thanks.js";
import { escaped } from "./page.js";

const SHOWN = { element: (part) => part.removeAttribute("hidden") };

/** Returns a handler for HTMLRewriter that replaces the content of an element. */
const content = (text, options) => ({ element: (part) => part.setInnerContent(text, options) });

/**
 * Returns the page that confirms an order.
 * @param {Response} page the static page
 * @param {object} order
 * @param {string} order.reference
 * @param {string} [order.name] the shopper's name
 * @param {string} [order.location] the recipient's page, if something was pledged
 * @param {{amount: number, nounSingular: string, nounPlural: string, image: string}[]} [order.added]
 * @param {string[]} [order.notifications]
 * @returns {Response}
 */
export function thanked(page, { reference, name = "", location, added = [], notifications = [] }) {
  const rewriter = new HTMLRewriter()
    .on("script", { element: (script) => script.remove() })
    .on("#checkout", { element: (form) => form.remove() })
    .on("#sent", SHOWN)
    .on("#sent .reference", content(reference))
    .on("[data-name]", content(name.trim() && `, ${name.trim()}`));
  if (notifications.length > 0)
    rewriter.on("[data-notified]", SHOWN).on("[data-ways]", content(waysOf(notifications)));
  if (location)
    rewriter
      .on("[data-pledge-only]", SHOWN)
      .on("[data-pledged]", content(added.map(leaf).join(""), { html: true }))
      .on("[data-timeline]", { element: (link) => link.setAttribute("href", location) });
  return rewriter.transform(page);
}

/** Returns the HTML of one pledged item. It equals the HTML that the page's script creates. */
function leaf({ amount, nounSingular, nounPlural, image }) {
  const words = `${amount} ${amount === 1 ? nounSingular : nounPlural}`;
  return `<li><span>${escaped(words)}</span> <img src="${image}" alt="" width="88" height="88"></li>`;
}
