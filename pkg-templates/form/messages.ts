/* Shows the problems of a form beside its fields. */
import { type Field, memberOf, nameOf } from "./fields.ts";
import { elementOf } from "./live.ts";

/**
 * A problem of a field. It is shown beside the field. For a `group` of fields, it is shown in the page's own
 * element for that group, if the page has such an element.
 */
export interface Problem {
  readonly text: string;
  readonly group?: string | undefined;
}

/**
 * An element, whose `textContent` is always a string. The DOM's own type includes null, which occurs only for
 * documents.
 */
interface Text {
  readonly textContent: string;
}

/** The elements whose text changes, with their new texts. */
type Changed = Map<HTMLElement, Set<string>>;

const MADE = "impact-pledge-problem";

/**
 * The number of the next element ID. It starts at the current time, because a copy of a page may contain IDs of an earlier
 * visit.
 */
let count = Date.now();

export function messagesOf(form: HTMLFormElement) {
  /** The shown texts and their elements, by field. */
  const shown = new Map<Field, { readonly text: string; readonly place: HTMLElement }>();
  const made = new WeakSet<HTMLElement>(); // elements that this module created

  /**
   * Reuses the elements that an earlier binding left in a copy of the form.
   * @returns the fields whose problems these elements show
   */
  function adopt(fields: readonly Field[]): Field[] {
    const root = form.getRootNode() as Document,
      left = new Map([...root.querySelectorAll<HTMLElement>(`.${MADE}`)].map((p) => [p.id, p]));
    for (const field of fields) {
      if (field.getAttribute("aria-invalid") === "false") field.removeAttribute("aria-invalid");
      const place = left.get(idsOf(field).find((id) => left.has(id))!);
      if (!place) continue;
      made.add(place);
      shown.set(field, { text: place.textContent!, place });
    }
    for (const place of left.values()) if (!made.has(place) && form.contains(place)) place.remove();
    return [...shown.keys()];
  }

  /**
   * Returns the problems that a server rendered in the page, by field. A problem of a group of fields belongs
   * to the first of them.
   */
  function serverErrors(fields: readonly Field[]): Map<Field, Problem> {
    const places = ownPlaces(fields),
      errors = new Map<Field, Problem>();
    for (const field of fields) {
      const name = nameOf(field),
        { type } = field,
        group = memberOf(field),
        isOwn = places.has(name);
      const text = (places.get(isOwn ? name : group) as Text | undefined)?.textContent.trim();
      if (text && type !== "hidden" && (isOwn || places.delete(group)))
        errors.set(field, isOwn ? { text } : { text, group });
    }
    return errors;
  }

  /**
   * Shows exactly these problems. @returns the problems that were not shown before
   * @param problems by field
   */
  function show(problems: ReadonlyMap<Field, Problem>): [Field, Problem][] {
    const changed: Changed = new Map();
    for (const field of [...shown.keys()]) if (!problems.has(field)) hide(field, changed);
    const fresh = [...problems].filter(([field, { text }]) => shown.get(field)?.text !== text);
    const places = ownPlaces(fresh.map(([field]) => field));
    for (const [field, { text, group }] of fresh) {
      hide(field, changed);
      const place = places.get(group!) ?? places.get(nameOf(field)) ?? newPlace(field);
      mark(field, text, place);
      changed.set(place, new Set());
    }
    write(changed);
    return fresh;
  }

  function mark(field: Field, text: string, place: HTMLElement): void {
    place.id ||= `${MADE}-${++count}`;
    describe(field, (ids) => ids.add(place.id));
    if (field.type !== "radio") field.setAttribute("aria-invalid", "true"); // ARIA does not allow it for a single radio button
    shown.set(field, { text, place });
  }

  function hide(field: Field, changed: Changed): void {
    const { place } = shown.get(field) ?? {};
    if (!place) return;
    shown.delete(field);
    changed.set(place, new Set());
    describe(field, (ids) => ids.delete(place.id));
    field.removeAttribute("aria-invalid");
  }

  /** Writes the texts of the elements that change. Each text is written once, because the fields of a group share an element. */
  function write(changed: Changed): void {
    for (const { text, place } of shown.values()) changed.get(place)?.add(text);
    for (const [place, texts] of changed) {
      place.textContent = [...texts].join(" ");
      if (texts.size === 0 && made.has(place)) place.remove();
    }
  }

  /**
   * Returns the page's own elements for problems, by field name. Searches the page only once, because one
   * search for each name would take quadratic time. An element outside the form counts only for a field
   * outside the form.
   */
  function ownPlaces(fields: readonly Field[]): Map<string, HTMLElement> {
    if (fields.length === 0) return new Map();
    const outside = new Set(
      fields
        .filter((field) => !form.contains(field))
        .flatMap((field) => [nameOf(field), memberOf(field)]),
    );
    const root = (outside.size > 0 ? form.getRootNode() : form) as Element;
    const places = [...root.querySelectorAll<HTMLElement>("[data-problem]")].filter((place) => {
      const { problem } = place.dataset;
      return problem && (form.contains(place) || (outside.has(problem) && !place.closest("form")));
    });
    return new Map(places.reverse().map((place) => [place.dataset.problem!, place])); // of several, the first
  }

  /**
   * Adds a paragraph for a field's problem, after the field or its label. For a checkbox or a radio button, adds
   * the paragraph at the end of the fieldset.
   */
  function newPlace(field: Field): HTMLElement {
    const place = elementOf(form, "p");
    place.className = MADE;
    made.add(place);
    const group = /^(checkbox|radio)$/.test(field.type) && field.closest("fieldset");
    if (group) group.append(place);
    else (field.closest("label") ?? field).after(place);
    return place;
  }

  return { adopt, serverErrors, show };
}

const idsOf = (field: Field) =>
  field.getAttribute("aria-describedby")?.split(/\s+/).filter(Boolean) ?? [];

function describe(field: Field, change: (ids: Set<string>) => unknown): void {
  const ids = new Set(idsOf(field));
  change(ids);
  if (ids.size > 0) field.setAttribute("aria-describedby", [...ids].join(" "));
  else field.removeAttribute("aria-describedby");
}
