/** Makes the index of the search. `assets/search.js` reads it with the same options. */
import MiniSearch from "minisearch";
import { FIELDS } from "./assets/search-options.js";

const EXCERPT = 140;

/**
 * Returns the index as JSON.
 * @param {{page: import("./pages.js").Page, sections: import("./markdown.js").Section[]}[]} rendered
 */
export function searchIndex(rendered) {
  const index = new MiniSearch(FIELDS);
  for (const { page, sections } of rendered)
    for (const { id, level, title, text } of sections)
      index.add({
        id: page.address + (id && `#${id}`),
        title,
        page: level === 1 ? "" : page.title,
        text,
        excerpt: text.replaceAll(/\s+/g, " ").trim().slice(0, EXCERPT),
      });
  return JSON.stringify(index);
}
