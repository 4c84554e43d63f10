/* Forms that are being sent: each is busy, and is not sent again. */

/** How long a form stays busy while the page is left, as a navigation may fail or be a download. */
const LEAVING_MS = 10_000;

interface Sending {
  readonly end: AbortController;
  isLeaving?: boolean;
}

const sending = new WeakMap<HTMLFormElement, Sending>();

export const isBusy = (form: HTMLFormElement) => sending.has(form);

/** Makes a form busy. */
export function startSending(form: HTMLFormElement): Sending {
  const state = { end: new AbortController() };
  sending.set(form, state);
  form.setAttribute("aria-busy", "true");
  listen(form.ownerDocument.defaultView, new WeakRef(form), state.end.signal);
  return state;
}

/** Listens to what becomes of the page, in a function of its own, so that the listeners do not hold the form in memory. */
function listen(view: Window | null, form: WeakRef<HTMLFormElement>, signal: AbortSignal): void {
  const leave = () => {
    const state = sending.get(form.deref()!);
    if (state) state.isLeaving = true;
  };
  const comeBack = ({ persisted }: PageTransitionEvent) => persisted && endSending(form.deref()!);
  view?.addEventListener("beforeunload", leave, { signal });
  view?.addEventListener("pageshow", comeBack, { signal });
}

/** Ends what was started, unless that has ended. @returns whether it had not */
export function endSending(form: HTMLFormElement, state = sending.get(form)): boolean {
  if (!state || sending.get(form) !== state) return false;
  state.end.abort();
  sending.delete(form);
  form.removeAttribute("aria-busy");
  return true;
}

/** Ends it in the next task, when a navigation has begun if there is one; then after {@link LEAVING_MS}. */
export function endSendingUnlessLeaving(form: HTMLFormElement, state: Sending): void {
  setTimeout(() => {
    if (state.isLeaving) setTimeout(endSending, LEAVING_MS, form, state);
    else endSending(form, state);
  });
}
