/* A live region: screen readers read each new line once. */
import { own } from "./own.ts";

const VISUALLY_HIDDEN =
  "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";
const REGION = "impact-pledge-status";

export interface Line {
  readonly text: string;
  /** Returns whether the line's text is still true. */
  readonly holds: () => boolean;
  /** Whether the line is visible. Default: only for screen readers. */
  readonly isVisible?: boolean;
  /** Runs when the line is clicked. A line with this function is a link. */
  readonly follow?: (() => unknown) | undefined;
}

/**
 * Appends a live region to a form, so that screen readers announce the lines in the region. A copy of a form
 * may already contain the region of an earlier binding; that region is then used again.
 */
export function liveRegion(form: HTMLFormElement) {
  let lines: (Line & { readonly element: HTMLElement })[] = [];
  const left = own(form, "querySelector")<HTMLElement>(`.${REGION}`),
    region = left ?? elementOf(form, "div");
  region.className = REGION;
  region.id ||= newId(REGION);
  region.setAttribute("role", "status");
  region.setAttribute("aria-atomic", "false"); // otherwise screen readers read all lines again when one is removed
  region.replaceChildren();
  if (!left) own(form, "append")(region);

  function add(added: readonly Line[]): void {
    for (const line of added) {
      const { text, isVisible, follow } = line,
        element = elementOf(form, "p", follow ? "" : text);
      if (!isVisible) element.style.cssText = VISUALLY_HIDDEN;
      if (follow) element.append(linkOf(text, follow));
      lines.push({ ...line, element });
      region.append(element);
    }
  }

  function linkOf(text: string, follow: () => unknown): HTMLElement {
    const link = elementOf(form, "a", text);
    link.href = "#";
    link.onclick = (event) => {
      event.preventDefault();
      follow();
    };
    return link;
  }

  /** Removes lines that are no longer true. */
  function update(): void {
    lines = lines.filter(({ element, holds }) => holds() || void element.remove());
  }

  function clear(): void {
    for (const { element } of lines.splice(0)) element.remove();
  }

  function focus(): void {
    region.tabIndex = -1;
    region.focus();
  }

  /** Whether the region is in the form, with its visible lines. */
  const isIntact = () =>
    own(form, "contains")(region) &&
    lines.every(({ element, isVisible }) => !isVisible || element.parentNode === region);

  /** Puts the region and its visible lines back where another script has removed them. */
  function restore(): void {
    if (!own(form, "contains")(region)) own(form, "append")(region);
    for (const { element, isVisible } of lines)
      if (isVisible && element.parentNode !== region) region.append(element);
  }

  return { left, region, add, update, clear, focus, isIntact, restore };
}

/** The number of the next ID. It starts at the current time, because a copy of a page may contain IDs of an earlier visit. */
let count = Date.now();

/** Returns a new ID for an element. With an ID, libraries that morph a page do not turn the element into another. */
export const newId = (name: string) => `${name}-${++count}`;

export function elementOf<Tag extends "a" | "button" | "div" | "p">(
  form: HTMLFormElement,
  tag: Tag,
  text = "",
): HTMLElementTagNameMap[Tag] {
  const element = own(form, "ownerDocument").createElement(tag);
  element.textContent = text;
  return element;
}
