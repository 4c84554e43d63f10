/* Forms that are being submitted. Such a form is busy and cannot be submitted again. */
import { own } from "./own.ts";

/**
 * How long a form stays busy during a navigation, in milliseconds. After that, the form can be submitted again,
 * because the navigation may have failed, or may be a download.
 */
const LEAVING_MS = 10_000;

interface Sending {
  readonly end: AbortController;
  isLeaving?: boolean;
}

const sending = new WeakMap<HTMLFormElement, Sending>();

export const isBusy = (form: HTMLFormElement) => sending.has(form);

/** Marks a form as busy. */
export function startSending(form: HTMLFormElement): Sending {
  const state = { end: new AbortController() };
  sending.set(form, state);
  own(form, "setAttribute")("aria-busy", "true");
  listen(own(form, "ownerDocument").defaultView, new WeakRef(form), state.end.signal);
  return state;
}

/**
 * Listens for navigations. The listeners are made in a function of their own, so that they do not keep the
 * form in memory.
 */
function listen(view: Window | null, form: WeakRef<HTMLFormElement>, signal: AbortSignal): void {
  const leave = () => {
    const state = sending.get(form.deref()!);
    if (state) state.isLeaving = true;
  };
  const comeBack = ({ persisted }: PageTransitionEvent) => persisted && endSending(form.deref()!);
  view?.addEventListener("beforeunload", leave, { signal });
  view?.addEventListener("pageshow", comeBack, { signal });
}

/** Ends a submission. @returns whether the submission was still running */
export function endSending(form: HTMLFormElement, state = sending.get(form)): boolean {
  if (!state || sending.get(form) !== state) return false;
  state.end.abort();
  sending.delete(form);
  own(form, "removeAttribute")("aria-busy");
  return true;
}

/**
 * Ends a submission in the next task. If a navigation has begun by then, ends the submission later instead,
 * after {@link LEAVING_MS} milliseconds.
 */
export function endSendingUnlessLeaving(form: HTMLFormElement, state: Sending): void {
  setTimeout(() => {
    if (state.isLeaving) setTimeout(endSending, LEAVING_MS, form, state);
    else endSending(form, state);
  });
}
