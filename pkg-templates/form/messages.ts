/* Shows the problems of a form beside its fields. */
import type { Field } from "./fields.ts";
import { elementOf } from "./live.ts";

/** What is shown beside a field; `group`: whose place comes first. */
export interface Problem {
  readonly text: string;
  readonly group?: string | undefined;
}

/** Of an element, which has always text: only documents have none. */
interface Text {
  readonly textContent: string;
}

/** The texts of places that have changed. */
type Changed = Map<HTMLElement, Set<string>>;

let count = 0;

export function messagesOf(form: HTMLFormElement) {
  /** By field. */
  const shown = new Map<Field, { readonly text: string; readonly place: HTMLElement }>();
  const made = new WeakSet<HTMLElement>(); // the places that are not the page's own

  /** The problems that the page came with in places of its own, by field: those of a group by its first one. */
  function serverErrors(fields: readonly Field[]): Map<Field, Problem> {
    const places = ownPlaces(),
      errors = new Map<Field, Problem>();
    for (const field of fields) {
      const { name, type } = field,
        [group] = name.split(".") as [string],
        isOwn = places.has(name);
      const text = (places.get(isOwn ? name : group) as Text | undefined)?.textContent.trim();
      if (text && type !== "hidden" && (isOwn || places.delete(group)))
        errors.set(field, isOwn ? { text } : { text, group });
    }
    return errors;
  }

  /**
   * Shows these problems and no others. @returns those that are new
   * @param problems by field
   */
  function show(problems: ReadonlyMap<Field, Problem>): [Field, Problem][] {
    const changed: Changed = new Map();
    for (const field of [...shown.keys()]) if (!problems.has(field)) hide(field, changed);
    const fresh = [...problems].filter(([field, { text }]) => shown.get(field)?.text !== text);
    const places = fresh.length > 0 ? ownPlaces() : undefined;
    for (const [field, { text, group }] of fresh) {
      hide(field, changed);
      const place = places!.get(group!) ?? places!.get(field.name) ?? newPlace(field);
      mark(field, text, place);
      changed.set(place, new Set());
    }
    write(changed);
    return fresh;
  }

  function mark(field: Field, text: string, place: HTMLElement): void {
    if (!place.id) {
      count += 1;
      place.id = `impact-pledge-problem-${count}`;
    }
    describe(field, (ids) => ids.add(place.id));
    if (field.type !== "radio") field.setAttribute("aria-invalid", "true"); // no role of a single radio button has it
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

  /** What is shown in places that have changed, each text once: the fields of a group share one. */
  function write(changed: Changed): void {
    for (const { text, place } of shown.values()) changed.get(place)?.add(text);
    for (const [place, texts] of changed) {
      place.textContent = [...texts].join(" ");
      if (texts.size === 0 && made.has(place)) place.remove();
    }
  }

  /** The page's places by the names that they are for. All at once: to search for each would take quadratic time. */
  function ownPlaces(): Map<string, HTMLElement> {
    const places = [...form.querySelectorAll<HTMLElement>("[data-problem]")].filter(
      (place) => place.dataset.problem,
    );
    return new Map(places.reverse().map((place) => [place.dataset.problem!, place])); // of two, the first
  }

  /** Behind the field or its label; for a group of boxes, at its end. */
  function newPlace(field: Field): HTMLElement {
    const place = elementOf(form, "p");
    place.className = "impact-pledge-problem";
    made.add(place);
    const group = /^(checkbox|radio)$/.test(field.type) && field.closest("fieldset");
    if (group) group.append(place);
    else (field.closest("label") ?? field).after(place);
    return place;
  }

  return { serverErrors, show };
}

function describe(field: Field, change: (ids: Set<string>) => unknown): void {
  const ids = new Set(field.getAttribute("aria-describedby")?.split(/\s+/).filter(Boolean));
  change(ids);
  if (ids.size > 0) field.setAttribute("aria-describedby", [...ids].join(" "));
  else field.removeAttribute("aria-describedby");
}
