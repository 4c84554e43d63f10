/* Limits. This file has no imports, because esbuild inlines constants only from such files. */
export const MOST_ISSUES = 1_000; // the default of `maxIssues`
export const MOST_VALUES = 4_194_304; // values that are serialized at most: an array may report a length of billions
export const CHARACTERS = 16; // characters that count as one value, so that even fully escaped text fits into an engine's strings
export const MOST_BYTES = 536_870_912; // bytes of JSON: with its issues it takes most of the 4 GB that a WebAssembly memory can have
export const ORDINARY_TEXT = 254; // characters: longer texts skip the regular expressions
export const MOST_TEXT = 65_536; // characters of a text with a format that the walk checks: it fits into the first area
export const PAGE = 65_536; // bytes of a page of WebAssembly memory
export const PAGES = 3; // of the first area
export const KEPT = 16_777_216; // bytes: a larger instance is dropped after its call, because memory never shrinks
export const ROOM = 256; // issues that one call of the WebAssembly returns; more for long JSON
