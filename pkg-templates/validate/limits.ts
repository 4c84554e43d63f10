/* How much is read, kept and returned. In a file without imports, because esbuild puts the numbers of such in their places. */
export const MOST_ISSUES = 1_000; // unless the caller sets another number: two million are no help
export const MOST_VALUES = 4_194_304; // that are serialized, so that an array with a length of billions ends
export const CHARACTERS = 16; // count as a value: even if all are escaped, engines have room for the whole text
export const MOST_TEXT = 65_536; // characters of a text with a format, and of one call: there is room for twice as many
export const PAGE = 65_536; // bytes of a page of wasm's memory
export const PAGES = 3; // of the area at first: enough for the texts of a call
export const KEPT = 16_777_216; // bytes: memory never shrinks, so that a larger instance is dropped after its call
export const ROOM = 256; // problems of JSON that one call returns, and more in long JSON
