/** How much is read, kept and given. In a file without imports, because esbuild puts the numbers of such in their places. */

/** How many issues are given, unless the caller says otherwise: two million are no help. */
export const MOST_ISSUES = 1_000;

/** How many values are read with care, so that an array with a length of billions ends. */
export const MOST_VALUES = 4_194_304;
/** So many characters count as a value. All of them escaped, they are still a string that engines have room for. */
export const CHARACTERS = 16;

/** The most characters of one text that has a format, and how many make a call: two times as many have room from the start. */
export const MOST_TEXT = 65_536;
/** The most characters that a page copies in a loop of its own: it takes longer to call an encoder. */
export const FEW = 2_048;

/** A page of wasm's memory, in bytes. */
export const PAGE = 65_536;
/** The pages of the area at first: enough for a call's texts. */
export const PAGES = 3;
/** In bytes. Memory never shrinks: above this, the instance is dropped after the call that needed it. */
export const KEPT = 16_777_216;
/** So many problems of JSON are given by one call, and more in long JSON. */
export const ROOM = 256;
