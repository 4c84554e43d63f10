/** The addresses of the site. Messages of the commands name them, so a page keeps its address. */

/** Where the site is published, without a slash at its end. */
export const ORIGIN = "https://impact-pledge.pages.dev";

/** The repository, for links to files that are no pages of the site. */
export const REPOSITORY = "https://github.com/impact-pledge/impact-pledge";

/** Returns the address of the page about an error code or a notice. @param {string} code */
export const errorAddress = (code) => `${ORIGIN}/errors/${code}`;
