/** Shows a page or an e-mail of the service in a frame that runs no scripts and loads nothing. */
import { element } from "../pages/elements.js";

/** The service's pages fill the screen. A frame is as high as its content instead. */
const AS_HIGH_AS_CONTENT = "body { min-height: 0 !important }";
const STYLE = /<style[^>]*>(.*?)<\/style>/gs;

/**
 * Returns a frame with an HTML document. The frame inherits the policy of the playground, which forbids inline styles. So
 * the styles are taken out of the text and set through the style sheet API. In the service's HTML, only an attribute can
 * contain ` style="`, because quotation marks in texts are escaped.
 * @param {string} html
 * @param {string} title
 * @param {(href: string) => void} onLink gets the address of a followed link. The frame itself follows none
 */
export function preview(html, title, onLink) {
  const styles = [...html.matchAll(STYLE)].map(([, css]) => css);
  const frame = element("iframe", { sandbox: "allow-same-origin", title });
  frame.addEventListener("load", () => dress(frame, styles, onLink));
  frame.srcdoc = html.replaceAll(STYLE, "").replaceAll(' style="', ' data-style="');
  return frame;
}

function dress(frame, styles, onLink) {
  const {
    contentDocument: page,
    contentWindow: { CSSStyleSheet },
  } = frame;
  page.adoptedStyleSheets = [...styles, AS_HIGH_AS_CONTENT].map((css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    return sheet;
  });
  for (const part of page.querySelectorAll("[data-style]")) part.style.cssText = part.dataset.style;
  for (const link of page.links) link.target = "_blank"; // which the sandbox forbids
  page.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link) return;
    event.preventDefault();
    onLink(link.href);
  });
  const fit = () => {
    const borders = frame.offsetHeight - frame.clientHeight;
    frame.style.height = `${page.documentElement.offsetHeight + borders}px`;
  };
  new ResizeObserver(fit).observe(page.documentElement);
  fit();
}
