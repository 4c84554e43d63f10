/**
 * The TypeScript flags with which users can make checks stricter. Some flags are left out, because some kinds
 * of modules do not allow them, or because tests try them both on and off.
 */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  isolatedModules: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2022",
  types: [],
};
/** The flags that later versions of TypeScript introduced, each with the version that introduced it. */
const LATER = { noUncheckedSideEffectImports: 5.6, erasableSyntaxOnly: 5.8 };

/** Returns the flags that a version of TypeScript knows, in the form of the options in a tsconfig.json. */
export function strictFlags(version = Number.POSITIVE_INFINITY) {
  const later = Object.entries(LATER).filter(([, first]) => version >= first);
  return { ...STRICT, ...Object.fromEntries(later.map(([name]) => [name, true])) };
}
