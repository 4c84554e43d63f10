/** Shows the problems of a form: beside each field, and in a live region for screen readers. */

const VISUALLY_HIDDEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";

let count = 0;

export class Messages {
  #form;
  #live;
  /** @type {Map<HTMLElement, {text: string, place: HTMLElement}>} by field */
  #shown = new Map();
  #made = new WeakSet(); // the places that are not the page's own

  constructor(form) {
    this.#form = form;
    this.#live = element(form, "role", "status");
    this.announce("");
    form.append(this.#live);
  }

  /** The texts that the page came with, by field: those of invalid fields, in places of the page's own. */
  serverErrors(fields) {
    const places = this.#ownPlaces();
    const invalid = fields.filter((field) => field.getAttribute("aria-invalid") === "true");
    return new Map(invalid.map((field) => [field, places.get(field.name)?.textContent.trim()]).filter(([, text]) => text));
  }

  /**
   * Shows these problems and no others. @returns {string[]} the texts that are new
   * @param {Map<HTMLElement, {text: string, group?: string}>} problems by field; `group`: whose place comes first
   */
  show(problems) {
    for (const field of [...this.#shown.keys()]) if (!problems.has(field)) this.#hide(field);
    const fresh = [...problems].filter(([field, { text }]) => this.#shown.get(field)?.text !== text);
    const places = fresh.length > 0 ? this.#ownPlaces() : undefined;
    for (const [field, { text, group }] of fresh) this.#write(field, text, places.get(group) ?? places.get(field.name) ?? this.#newPlace(field));
    return fresh.map(([, { text }]) => text);
  }

  /** For screen readers; if `visibly`, for everybody. */
  announce(text, visibly = false) {
    this.#live.textContent = text;
    this.#live.style.cssText = visibly ? "" : VISUALLY_HIDDEN;
  }

  remove() {
    this.show(new Map());
    this.#live.remove();
  }

  #write(field, text, place) {
    this.#hide(field);
    place.id ||= `impact-pledge-problem-${(count += 1)}`;
    place.textContent = text;
    describe(field, (ids) => ids.add(place.id));
    if (field.type !== "radio") field.setAttribute("aria-invalid", "true"); // no role of a single radio button has it
    this.#shown.set(field, { text, place });
  }

  #hide(field) {
    const { place } = this.#shown.get(field) ?? {};
    if (!place) return;
    this.#shown.delete(field);
    place.textContent = "";
    if (this.#made.has(place)) place.remove();
    describe(field, (ids) => ids.delete(place.id));
    field.removeAttribute("aria-invalid");
  }

  /** The page's places by the names that they are for. All at once: to search for each would take quadratic time. */
  #ownPlaces() {
    const places = [...this.#form.querySelectorAll("[data-problem]")].filter((place) => place.dataset.problem);
    return new Map(places.reverse().map((place) => [place.dataset.problem, place])); // of two, the first
  }

  /** Behind the field or its label; for a group of boxes, at its end. */
  #newPlace(field) {
    const place = element(this.#form, "class", "impact-pledge-problem");
    this.#made.add(place);
    const group = /^(checkbox|radio)$/.test(field.type) && field.closest("fieldset");
    if (group) group.append(place);
    else (field.closest("label") ?? field).after(place);
    return place;
  }
}

function element({ ownerDocument }, attribute, value) {
  const element = ownerDocument.createElement("p");
  element.setAttribute(attribute, value);
  return element;
}

function describe(field, change) {
  const ids = new Set(field.getAttribute("aria-describedby")?.split(/\s+/).filter(Boolean));
  change(ids);
  if (ids.size > 0) field.setAttribute("aria-describedby", [...ids].join(" "));
  else field.removeAttribute("aria-describedby");
}
