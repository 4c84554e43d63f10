/* Passes a form to the page's `onSubmit`. */
import { issuesOf } from "./reported.ts";
import { endSending, endSendingUnlessLeaving, startSending } from "./sending.ts";
import type { BindFormOptions } from "./types.ts";

/**
 * Calls `onSubmit`. The form cannot be submitted again until the promise that `onSubmit` returned is settled. If
 * `onSubmit` started a navigation, the form stays blocked until the navigation has ended.
 * @param refused called with an error, or with an answer that has issues
 */
export async function send(
  form: HTMLFormElement,
  options: BindFormOptions<boolean>,
  payload: unknown,
  details: { readonly data: FormData; readonly event: SubmitEvent },
  refused: (answer: unknown, event: SubmitEvent) => void,
): Promise<void> {
  const { event } = details,
    sending = startSending(form);
  event.preventDefault();
  try {
    const answer = await options.onSubmit!(payload as never, details as never);
    if (!issuesOf(answer)) endSendingUnlessLeaving(form, sending);
    else if (endSending(form, sending)) refused(answer, event);
  } catch (error) {
    if (endSending(form, sending)) refused(error, event);
  }
}
