/** Helpers for the elements of the page for developers. */

/** Finds an element by a selector. @returns {any} an existing element of the page */
export const find = (selector) => document.querySelector(selector);

export const show = (selector, ...children) => find(selector).replaceChildren(...children);

/** Creates an element with attributes and children. @returns {any} a new element */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
