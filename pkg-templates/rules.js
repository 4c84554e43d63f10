/** The validator, for the package's main entry. */
export * from "./validate/index.js";
