/*
 * The page's events that bound forms need. The listeners hold no form: one that left the document can be collected.
 */

/** An event of a field. */
export interface FieldEvent extends Event {
  readonly target: HTMLInputElement;
}

type OnField = (event: FieldEvent) => void;

const FIELD_EVENTS = ["input", "change", "focusout"];

const handlers = new WeakMap<HTMLFormElement, OnField>();
const watched = new WeakSet<Document>();

/** Whether a mouse button was pressed in this task: a field that loses the focus now, loses it by that. */
export let isPressed = false;

/**
 * Calls a function for each event of a form's fields, in the capture phase and again in the bubble phase, after the event's
 * own handlers.
 */
export function watchFields(form: HTMLFormElement, onField: OnField, signal: AbortSignal): void {
  handlers.set(form, onField);
  listen(form, onField as EventListener, { signal });
  const { ownerDocument: page } = form;
  if (watched.has(page)) return;
  watched.add(page);
  listen(page, passOn as EventListener, {});
  const press = () => {
    isPressed = true;
    setTimeout(() => (isPressed = false));
  };
  page.addEventListener("mousedown", press, true);
}

export const unwatchFields = (form: HTMLFormElement) => handlers.delete(form);

function listen(to: EventTarget, listener: EventListener, options: AddEventListenerOptions): void {
  for (const type of FIELD_EVENTS)
    for (const capture of [true, false])
      to.addEventListener(type, listener, { ...options, capture });
}

/** Passes on the events of fields that a `form` attribute puts into a form elsewhere. */
function passOn(event: FieldEvent): void {
  const form = event.target.form!,
    onField = handlers.get(form);
  if (onField && !form.contains(event.target)) onField(event);
}
