/** The languages of timelines and e-mails, with their own names. */
import { LANGUAGES } from "../../pkg-templates/generated/service.ts";

export { LANGUAGES };

/** Returns the language's name in that language: `Deutsch`. */
export const nameOf = (tag) => new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
