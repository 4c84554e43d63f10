/** Where a form shows its problems: beside each field, and for those who listen. */

const UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";

let count = 0;

export class Messages {
  #form;
  #live;
  /** @type {Map<HTMLElement, {text: string, place: HTMLElement}>} by field */
  #shown = new Map();
  /** The places that are ours. */
  #made = new WeakSet();

  constructor(form) {
    this.#form = form;
    this.#live = element(form, { role: "status" });
    this.#live.style.cssText = UNSEEN;
    form.append(this.#live);
  }

  /** What a place of the page's own says of a field: a server's word. */
  served(field) {
    return field.getAttribute("aria-invalid") === "true" ? this.#ownPlace(field.name)?.textContent.trim() : "";
  }

  /**
   * Shows these problems and no others.
   * @param {Map<HTMLElement, {text: string, group?: string}>} problems by field; `group`: whose place comes first
   * @returns {string[]} what is new
   */
  show(problems) {
    for (const field of [...this.#shown.keys()]) if (!problems.has(field)) this.#hide(field);
    const fresh = [...problems].filter(([field, { text }]) => this.#shown.get(field)?.text !== text);
    for (const [field, { text, group }] of fresh) this.#write(field, text, group);
    return fresh.map(([, { text }]) => text);
  }

  /** Tells a screen reader; `visibly`, everybody. */
  announce(text, visibly = false) {
    this.#live.textContent = text;
    this.#live.style.cssText = visibly ? "" : UNSEEN;
  }

  remove() {
    this.show(new Map());
    this.#live.remove();
  }

  #write(field, text, group) {
    this.#hide(field);
    const place = (group && this.#ownPlace(group)) || this.#ownPlace(field.name) || this.#newPlace(field);
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

  #ownPlace(name) {
    return name && this.#form.querySelector(`[data-problem=${JSON.stringify(name)}]`); // jsdom has no `CSS.escape`
  }

  /** Behind the field or its label, and behind all of a group of boxes. */
  #newPlace(field) {
    const place = element(this.#form, { class: "impact-pledge-problem" });
    this.#made.add(place);
    const group = /^(checkbox|radio)$/.test(field.type) && field.closest("fieldset");
    if (group) group.append(place);
    else (field.closest("label") ?? field).after(place);
    return place;
  }
}

function element({ ownerDocument }, attributes) {
  const element = ownerDocument.createElement("p");
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function describe(field, change) {
  const ids = new Set(field.getAttribute("aria-describedby")?.split(/\s+/).filter(Boolean));
  change(ids);
  if (ids.size > 0) field.setAttribute("aria-describedby", [...ids].join(" "));
  else field.removeAttribute("aria-describedby");
}
