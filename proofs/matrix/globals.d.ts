/** A global of the pages of environments. */
declare var result: unknown;
