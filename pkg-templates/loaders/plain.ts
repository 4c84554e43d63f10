/* In the entries of plain JavaScript there is no module to compile. */
export async function compileAhead(): Promise<void> {}
