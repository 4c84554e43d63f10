/*
 * The page's events that bound forms need. The listeners hold no form: one that left the document can be collected.
 */

import { type Field, isCustom } from "./fields.ts";

/** An event of a field. */
interface FieldEvent extends Event {
  readonly target: Field;
}

type OnField = (event: FieldEvent) => void;

/** The longest that a check waits because a mouse button is down: the button may be released outside of the page. */
const HELD_MS = 1_000;

const FIELD_EVENTS = ["input", "change", "focusout"];

const handlers = new WeakMap<HTMLFormElement, OnField>();
const watched = new WeakSet<Document>();

/** Whether a mouse button was pressed in this task: a field that loses the focus now, loses it by that. */
let isPressed = false;

/**
 * Watches the events of a form's fields.
 * @param note called at each event, before its own handlers
 * @param check called after them: a check before makes a component render its old value. A custom element may take until the
 *   next task to change what it posts.
 * @returns a function that drops a check that is due
 */
export function watchFields(
  form: HTMLFormElement,
  note: (type: string, field: Field) => void,
  check: () => void,
  signal: AbortSignal,
): () => void {
  let due: unknown; // a timer
  const drop = () => {
    clearTimeout(due as number);
    due = undefined;
  };
  const checkIfDue = () => {
    if (due && !signal.aborted) check();
    drop();
  };
  function onField(event: FieldEvent): void {
    const { type, target } = event;
    if (target.form !== form && !isCustom(target)) return;
    const isHeld = isPressed && type !== "input"; // showing a message now could move the click target
    if (event.eventPhase !== event.CAPTURING_PHASE)
      return void (isHeld || isCustom(target) || checkIfDue());
    note(type, target);
    drop();
    due = setTimeout(checkIfDue, isHeld ? HELD_MS : 0); // an event may be stopped on its way
    const release = () => setTimeout(checkIfDue); // after the click
    if (isHeld)
      form.ownerDocument.addEventListener("mouseup", release, { capture: true, once: true });
  }
  watch(form, onField, signal);
  return drop;
}

function watch(form: HTMLFormElement, onField: OnField, signal: AbortSignal): void {
  handlers.set(form, onField);
  signal.addEventListener("abort", () => handlers.delete(form));
  listen(form, onField as EventListener, { signal });
  watchPage(form.ownerDocument);
}

/** Listens to the page once, in a function of its own: its listeners would hold the variables of another in memory. */
function watchPage(page: Document): void {
  if (watched.has(page)) return;
  watched.add(page);
  listen(page, passOn as EventListener, {});
  const press = () => {
    isPressed = true;
    setTimeout(() => (isPressed = false));
  };
  page.addEventListener("mousedown", press, true);
}

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
