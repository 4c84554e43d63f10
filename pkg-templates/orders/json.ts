/* Values of a body. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What is at a path; undefined where there is nothing. */
export type Found = Json | undefined;

/** Returns the value of an object's own member. */
export const member = (node: Found, name: string): Found =>
  Object.hasOwn(Object(node), name) ? (node as { [name: string]: Json })[name] : undefined;

/** Returns a text, or a number as text; the empty text for other values. */
export const scalar = (value: Found): string =>
  typeof value === "string" || typeof value === "number" ? `${value}` : "";
