/* Values of a body. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What is at a path; undefined where there is nothing. */
export type Found = Json | undefined;

/**
 * An object of a body. Its members are read without a look at what the value really is: no name in the table is that of a
 * member which JavaScript gives to values by itself.
 */
export type Members = { readonly [name: string]: Found } | null | undefined;

export const isThere = <T>(value: T | undefined): value is T => value !== undefined;

/** Returns a text, or a number as text; the empty text for other values. */
export const scalar = (value: Found): string =>
  typeof value === "string" || typeof value === "number" ? `${value}` : "";
