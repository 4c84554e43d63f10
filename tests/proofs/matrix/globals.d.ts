/** The global variable in which the page of each environment leaves its result. */
declare var result: unknown;
