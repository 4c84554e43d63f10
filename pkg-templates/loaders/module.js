/** The wasm as a module of its own, which the platform compiles: it lets nobody compile at run time. */
import module from "#wasm";

export const compile = () => module;
export async function compileAhead() {}
