/** The globals of the tests' pages. */
declare var bindIt: (options?: import("../../pkg/form.js").FormOptions) => void;
declare var result: unknown;
