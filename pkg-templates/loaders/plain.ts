/* Where the wasm is plain JavaScript, there is no module to compile. */
export async function compileAhead(): Promise<void> {}
