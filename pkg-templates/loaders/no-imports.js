/** What the validator's own wasm imports: nothing. */
export const importsOf = () => undefined;
