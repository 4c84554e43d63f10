/* A live region: screen readers read each new line once. */

const VISUALLY_HIDDEN =
  "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";

export interface Line {
  readonly text: string;
  /** Returns whether the text is still true. */
  readonly holds: () => boolean;
  /** Whether the line is visible, instead of only for screen readers. */
  readonly isVisible?: boolean;
}

/** Appends a live region to a form. */
export function liveRegion(form: HTMLFormElement) {
  let lines: { readonly line: HTMLElement; readonly holds: () => boolean }[] = [];
  const region = elementOf(form, "div");
  region.setAttribute("role", "status");
  region.setAttribute("aria-atomic", "false"); // else, when a line is removed, all others are read again
  form.append(region);

  function add(added: readonly Line[]): void {
    for (const { text, holds, isVisible } of added) {
      const line = elementOf(form, "p", text);
      if (!isVisible) line.style.cssText = VISUALLY_HIDDEN;
      lines.push({ line, holds });
      region.append(line);
    }
  }

  /** Removes lines that are no longer true. */
  function update(): void {
    lines = lines.filter(({ line, holds }) => holds() || void line.remove());
  }

  function clear(): void {
    for (const { line } of lines.splice(0)) line.remove();
  }

  return { add, update, clear, remove: () => region.remove() };
}

export function elementOf<Tag extends "button" | "div" | "p">(
  { ownerDocument }: HTMLFormElement,
  tag: Tag,
  text = "",
): HTMLElementTagNameMap[Tag] {
  const element = ownerDocument.createElement(tag);
  element.textContent = text;
  return element;
}
