/** Why an environment could not be tried on this machine. */
export class Skipped extends Error {}
