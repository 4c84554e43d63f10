/* Shows the problems of a form beside its fields. */
import { type Field, memberOf, nameOf } from "./fields.ts";
import { elementOf, newId } from "./live.ts";
import { own } from "./own.ts";

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

export function messagesOf(form: HTMLFormElement) {
  const contains = own(form, "contains");
  /** The shown texts by field, with their elements and the IDs of these elements. */
  const shown = new Map<
    Field,
    { readonly text: string; readonly place: HTMLElement; readonly id: string }
  >();
  const made = new WeakSet<HTMLElement>(); // elements that this module created
  const written = new WeakMap<HTMLElement, string>();

  /**
   * Reuses the elements that an earlier binding left in a copy of the form.
   * @returns the fields whose problems these elements show
   */
  function adopt(fields: readonly Field[]): Field[] {
    const root = own(form, "getRootNode")() as Document,
      left = new Map([...root.querySelectorAll<HTMLElement>(`.${MADE}`)].map((p) => [p.id, p]));
    for (const field of fields) {
      if (field.getAttribute("aria-invalid") === "false") field.removeAttribute("aria-invalid");
      const place = left.get(idsOf(field).find((id) => left.has(id))!);
      if (!place) continue;
      made.add(place);
      shown.set(field, { text: place.textContent!, place, id: place.id });
    }
    for (const place of left.values()) if (!made.has(place) && contains(place)) place.remove();
    return [...shown.keys()];
  }

  /**
   * Returns the problems that a server rendered in the page, by field. These are the texts that this module has
   * not written. A problem of a group of fields belongs to the first field of the group.
   */
  function serverErrors(fields: readonly Field[]): Map<Field, Problem> {
    const places = ownPlaces(fields),
      errors = new Map<Field, Problem>();
    for (const field of fields) {
      const name = nameOf(field),
        { type } = field,
        group = memberOf(field),
        isOwn = places.has(name);
      const place = places.get(isOwn ? name : group),
        text = (place as Text | undefined)?.textContent.trim();
      if (
        text &&
        place?.textContent !== written.get(place!) &&
        type !== "hidden" &&
        (isOwn || places.delete(group))
      )
        errors.set(field, isOwn ? { text } : { text, group });
    }
    return errors;
  }

  /**
   * Shows exactly these problems. Restores those whose message or attributes another script has changed.
   * @returns the problems that were not shown before
   * @param problems by field
   */
  function show(problems: ReadonlyMap<Field, Problem>): [Field, Problem][] {
    const changed: Changed = new Map();
    for (const field of [...shown.keys()]) if (!problems.has(field)) hide(field, changed);
    const isFresh = ([field, { text }]: [Field, Problem]) => shown.get(field)?.text !== text;
    const fresh = [...problems].filter(isFresh),
      stale = [...problems].filter((problem) => isFresh(problem) || !isIntact(problem[0]));
    const places = ownPlaces(stale.map(([field]) => field));
    for (const [field, { text, group }] of stale) {
      hide(field, changed);
      const place = places.get(group!) ?? places.get(nameOf(field)) ?? newPlace(field);
      mark(field, text, place);
      changed.set(place, new Set());
    }
    write(changed);
    return fresh;
  }

  function mark(field: Field, text: string, place: HTMLElement): void {
    place.id ||= newId(MADE);
    const { id } = place;
    describe(field, (ids) => ids.add(id));
    if (field.type !== "radio") field.setAttribute("aria-invalid", "true"); // ARIA does not allow it for a single radio button
    shown.set(field, { text, place, id });
  }

  /** Whether a field still has the attributes that name its problem, and the problem's element still has a text. */
  function isIntact(field: Field): boolean {
    const { place, id } = shown.get(field)!;
    return (
      place.id === id &&
      place.textContent !== "" &&
      place.getRootNode() === field.getRootNode() &&
      idsOf(field).includes(id) &&
      (field.type === "radio" || field.getAttribute("aria-invalid") === "true")
    );
  }

  function hide(field: Field, changed: Changed): void {
    const { place, id } = shown.get(field) ?? {};
    if (!place) return;
    shown.delete(field);
    changed.set(place, new Set());
    describe(field, (ids) => ids.delete(id!));
    field.removeAttribute("aria-invalid");
  }

  /** Writes the texts of the elements that change. Each text is written once, because the fields of a group share an element. */
  function write(changed: Changed): void {
    for (const { text, place } of shown.values()) changed.get(place)?.add(text);
    for (const [place, texts] of changed) {
      place.textContent = [...texts].join(" ");
      written.set(place, place.textContent);
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
        .filter((field) => !contains(field))
        .flatMap((field) => [nameOf(field), memberOf(field)]),
    );
    const root = (outside.size > 0 ? own(form, "getRootNode")() : form) as Element;
    const places = [...own(root, "querySelectorAll")<HTMLElement>("[data-problem]")].filter(
      (place) => {
        const { problem } = place.dataset;
        return problem && (contains(place) || (outside.has(problem) && !place.closest("form")));
      },
    );
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

  return { adopt, serverErrors, show, isIntact };
}

const idsOf = (field: Field) =>
  field.getAttribute("aria-describedby")?.split(/\s+/).filter(Boolean) ?? [];

function describe(field: Field, change: (ids: Set<string>) => unknown): void {
  const ids = new Set(idsOf(field));
  change(ids);
  if (ids.size > 0) field.setAttribute("aria-describedby", [...ids].join(" "));
  else field.removeAttribute("aria-describedby");
}
