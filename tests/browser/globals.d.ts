/** What the pages of the tests put into their globals. */
declare var bindIt: (options?: import("../../pkg/form.js").FormOptions) => void;
declare var result: unknown;
