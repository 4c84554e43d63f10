/* Fields that are not rendered: in a hidden step, a closed dialog, or a collapsed part. */
import { type Field, nameOf } from "./fields.ts";
import type { Line } from "./live.ts";
import { own } from "./own.ts";

const UNTIL_FOUND = "until-found";
/** How many problems of invisible fields are listed, at most. */
const MOST_LISTED = 100;

/**
 * Returns a line for each problem of an invisible field. The line is a link if the field can be made visible.
 * @param textAt returns the current problem of a field
 */
export const hiddenLines = (
  fields: readonly Field[],
  textAt: (field: Field) => string | undefined,
): Line[] =>
  fields
    .filter((field) => !isRendered(field))
    .slice(0, MOST_LISTED)
    .map((field) => {
      const text = textAt(field);
      return {
        text: `${labelOf(field)}: ${text}`,
        holds: () => textAt(field) === text,
        isVisible: true,
        follow: canReveal(field) ? () => reveal(field) : undefined,
      };
    });

const isRendered = (field: Field) => field.checkVisibility?.() ?? true;

/**
 * Opens the closed `details` elements around a field, and focuses the field.
 * @returns whether the field is then visible
 */
export function focus(field: Field): boolean {
  for (const details of ancestorsOf(field)) if (details.localName === "details") open(details);
  field.focus();
  return field.matches(":focus-within") || isRendered(field);
}

/**
 * Shows and focuses a field that is hidden by `hidden=until-found`. Opens the hidden elements around it, as
 * the browser does when it finds text in a page.
 */
function reveal(field: Field): void {
  for (const part of ancestorsOf(field)) {
    if (!isUntilFound(part)) continue;
    own(part, "dispatchEvent")(new Event("beforematch", { bubbles: true }));
    own(part, "removeAttribute")("hidden");
  }
  focus(field);
}

/**
 * Returns whether {@link reveal} can show a field: all hidden elements around it have `hidden=until-found`.
 */
const canReveal = (field: Field) =>
  ancestorsOf(field).every(
    (part) => isUntilFound(part) || getComputedStyle(part).display !== "none",
  );

const isUntilFound = (part: Element) => own(part, "getAttribute")("hidden") === UNTIL_FOUND;

/** Returns a field and the elements around it. */
function ancestorsOf(field: Element): Element[] {
  const all: Element[] = [];
  for (let each: Element | null = field; each; each = own(each, "parentElement")) all.push(each);
  return all;
}

const open = (details: Element) => ((details as HTMLDetailsElement).open = true);

/** Returns the name of a field as shoppers know it. */
function labelOf(field: Field): string {
  const label = field.labels?.[0]?.cloneNode(true) as Element | undefined;
  for (const control of label?.querySelectorAll("button,select,textarea") ?? []) control.remove();
  const names = [
    label?.textContent,
    field.ariaLabel,
    (field as { label?: unknown }).label, // of a component
    field.placeholder,
    field.title,
    nameOf(field),
  ];
  return String(names.find((name) => String(name ?? "").trim()) ?? "").trim();
}
