/* What a form says: in English, or in the page's own words. */
import { en } from "../locales/en.ts";
import type { FormTexts } from "../validate/index.ts";
import { textOf } from "../validate/options.ts";
import type { FormMessages } from "./types.ts";

/** What has a text: an issue, or something that a form says. */
interface About {
  readonly code: string;
  readonly message?: string;
}

/** The text of an issue. @param messages of the page's own: a map by code, such as a locale pack, or a function */
export const messageOf = (issue: About, messages: object = en): string =>
  (textOf(issue, messages) ?? textOf(issue, en) ?? issue.message) as string;

/** How each of the messages for developers begins, and no sentence for a shopper. */
const FOR_DEVELOPERS = /^(must|is|has|could) /;

/** The text of a server's issue: the page's own, else the server's, unless that is for developers. */
export function reportedText(
  issue: About & { readonly message: string },
  messages: object = {},
): string {
  return FOR_DEVELOPERS.test(issue.message)
    ? messageOf(issue, messages)
    : (textOf(issue, messages) ?? issue.message);
}

/** What is no problem of a field. A function is asked about issues alone. */
export const formText = (
  messages: FormMessages | undefined,
  code: keyof FormTexts,
  values?: { readonly count: number },
) => messageOf({ code, ...values }, { ...messages });
