/** Elements of the page for developers. */

/** @returns {any} an element of the page, which is there */
export const find = (selector) => document.querySelector(selector);

export const show = (selector, ...children) => find(selector).replaceChildren(...children);

/** @returns {any} an element that is made here */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
