/*
 * The page's events for bound forms. The listeners keep no form in memory, so a form that left the document can be collected.
 */

import { type Field, isCustom } from "./fields.ts";
import { own } from "./own.ts";

/** An event of a field. */
interface FieldEvent extends Event {
  readonly target: Field;
}

type OnField = (event: FieldEvent) => void;

/**
 * The maximum delay of a check while a mouse button is down, in milliseconds. Without this limit, a button
 * that is released outside of the page would delay the check forever.
 */
const HELD_MS = 1_000;

const FIELD_EVENTS = ["input", "change", "focusout"];

const handlers = new WeakMap<HTMLFormElement, OnField>();
const watched = new WeakSet<Document>();

/**
 * Whether a mouse button was pressed in this task of the event loop. If a field loses the focus in the same
 * task, the press is the cause.
 */
let isPressed = false;

/**
 * Watches the events of a form's fields.
 * @param note called at each event, before the page's handlers
 * @param check called after the page's handlers. An earlier check would make a component render its old
 *   value. For a custom element, `check` is called in the next task, because the element may change its
 *   posted value late.
 * @returns a function that cancels a pending check
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
    const isHeld = isPressed && type !== "input"; // a new message could move the click target
    if (event.eventPhase !== event.CAPTURING_PHASE)
      return void (isHeld || isCustom(target) || checkIfDue());
    note(type, target);
    drop();
    due = setTimeout(checkIfDue, isHeld ? HELD_MS : 0); // a handler may stop the event
    const release = () => setTimeout(checkIfDue); // after the click
    if (isHeld)
      own(form, "ownerDocument").addEventListener("mouseup", release, {
        capture: true,
        once: true,
      });
  }
  watch(form, onField, signal);
  return drop;
}

function watch(form: HTMLFormElement, onField: OnField, signal: AbortSignal): void {
  handlers.set(form, onField);
  signal.addEventListener("abort", () => handlers.delete(form));
  listen(form, onField as EventListener, { signal });
  watchPage(own(form, "ownerDocument"));
}

/**
 * Adds listeners to a page, only once. This is a separate function, so that the listeners do not keep a
 * form's variables in memory.
 */
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

function listen(to: Node, listener: EventListener, options: AddEventListenerOptions): void {
  for (const type of FIELD_EVENTS)
    for (const capture of [true, false])
      own(to, "addEventListener")(type, listener, { ...options, capture });
}

/** Passes on an event of a field that is outside of its form. The field's `form` attribute names the form. */
function passOn(event: FieldEvent): void {
  const form = event.target.form!,
    onField = handlers.get(form);
  if (onField && !own(form, "contains")(event.target)) onField(event);
}
