/** How the search is indexed and asked. */

/** Folders whose pages fewer readers look for. @type {Record<string, number>} */
const LESS = { decisions: 0.4, commands: 0.7 };

export const FIELDS = {
  fields: ["title", "page", "text"],
  storeFields: ["title", "page", "excerpt"],
  searchOptions: {
    boost: { title: 5, page: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : 0),
    combineWith: /** @type {const} */ ("AND"),
    boostDocument: (id) => LESS[String(id).split("/")[0] ?? ""] ?? 1,
  },
};
