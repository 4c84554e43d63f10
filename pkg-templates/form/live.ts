/* A live region: screen readers read each new line once. */

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
  let lines: { readonly line: HTMLElement; readonly holds: () => boolean }[] = [];
  const left = form.querySelector<HTMLElement>(`.${REGION}`),
    region = left ?? elementOf(form, "div");
  region.className = REGION;
  region.setAttribute("role", "status");
  region.setAttribute("aria-atomic", "false"); // otherwise screen readers read all lines again when one is removed
  if (left) region.replaceChildren();
  else form.append(region);

  function add(added: readonly Line[]): void {
    for (const { text, holds, isVisible, follow } of added) {
      const line = elementOf(form, "p", follow ? "" : text);
      if (!isVisible) line.style.cssText = VISUALLY_HIDDEN;
      if (follow) line.append(linkOf(text, follow));
      lines.push({ line, holds });
      region.append(line);
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
    lines = lines.filter(({ line, holds }) => holds() || void line.remove());
  }

  function clear(): void {
    for (const { line } of lines.splice(0)) line.remove();
  }

  function focus(): void {
    region.tabIndex = -1;
    region.focus();
  }

  return { left, region, add, update, clear, focus };
}

export function elementOf<Tag extends "a" | "button" | "div" | "p">(
  { ownerDocument }: HTMLFormElement,
  tag: Tag,
  text = "",
): HTMLElementTagNameMap[Tag] {
  const element = ownerDocument.createElement(tag);
  element.textContent = text;
  return element;
}
