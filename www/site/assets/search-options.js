/** How the search is indexed and asked. */

export const FIELDS = {
  fields: ["title", "page", "text"],
  storeFields: ["title", "page", "excerpt"],
  searchOptions: {
    boost: { title: 5, page: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : 0),
    combineWith: /** @type {const} */ ("AND"),
    boostDocument: (id) => (String(id).startsWith("decisions/") ? 0.4 : 1),
  },
};
