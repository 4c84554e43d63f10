/** A live region: screen readers read each line once, as it comes. */

const VISUALLY_HIDDEN =
  "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";

/** @param {HTMLFormElement} form at whose end it stands */
export function liveRegion(form) {
  /** @type {{line: HTMLElement, holds: () => boolean}[]} */
  let lines = [];
  const region = elementOf(form, "div");
  region.setAttribute("role", "status");
  region.setAttribute("aria-atomic", "false"); // else a line that goes has all others read again
  form.append(region);

  /**
   * @param {{text: string, holds: () => boolean, isVisible?: boolean}[]} added `holds`: whether what it says is still so;
   *   `isVisible`: for everybody
   */
  function add(added) {
    for (const { text, holds, isVisible } of added) {
      const line = elementOf(form, "p", text);
      if (!isVisible) line.style.cssText = VISUALLY_HIDDEN;
      lines.push({ line, holds });
      region.append(line);
    }
  }

  /** Takes away what no longer holds. */
  function update() {
    lines = lines.filter(({ line, holds }) => holds() || void line.remove());
  }

  function clear() {
    for (const { line } of lines.splice(0)) line.remove();
  }

  return { add, update, clear, remove: () => region.remove() };
}

export function elementOf({ ownerDocument }, tag, text = "") {
  const element = ownerDocument.createElement(tag);
  element.textContent = text;
  return element;
}
