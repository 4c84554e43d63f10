/* The texts of a form: English, or the page's own. */
import { en } from "../locales/en.ts";
import type { FormTexts } from "../validate/index.ts";
import { textOf } from "../validate/options.ts";
import type { FormMessages } from "./types.ts";

/** An issue, or one of the texts in `FormTexts`. */
interface About {
  readonly code: string;
  readonly message?: string;
  readonly count?: string | number | undefined;
}

/** Returns the text of an issue. @param messages the page's own texts: a map by code, such as a locale pack, or a function */
export const messageOf = (issue: About, messages: object = en): string =>
  (textOf(issue, messages) ?? textOf(issue, en) ?? issue.message) as string;

/** Matches the beginning of messages for developers. No text for shoppers begins like this. */
const FOR_DEVELOPERS = /^(must|is|has|could) /;

/**
 * Returns the text to show for a server's issue: the page's own text, or otherwise the server's message. If
 * that message is one for developers, returns the default text for shoppers instead.
 */
export function reportedText(
  issue: About & { readonly message: string },
  messages: object = {},
): string {
  return FOR_DEVELOPERS.test(issue.message)
    ? messageOf(issue, messages)
    : (textOf(issue, messages) ?? issue.message);
}

/** Returns a text of the form itself. If `messages` is a function, it is not called. */
export const formText = (
  messages: FormMessages | undefined,
  code: keyof FormTexts,
  values?: { readonly count: number },
) => messageOf({ code, ...values }, { ...messages });
