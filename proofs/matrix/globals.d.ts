/** The global variable in which the environments' pages leave their result. */
declare var result: unknown;
