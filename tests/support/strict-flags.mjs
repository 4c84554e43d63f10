/** The flags by which a user's TypeScript may be stricter, without those that a kind of module excludes or that are tried on and off. */
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
/** Flags, and the version that first had them. */
const LATER = { noUncheckedSideEffectImports: 5.6, erasableSyntaxOnly: 5.8 };

/** Returns those that a compiler has, as in a tsconfig.json. */
export function strictFlags(version = Number.POSITIVE_INFINITY) {
  const later = Object.entries(LATER).filter(([, first]) => version >= first);
  return { ...STRICT, ...Object.fromEntries(later.map(([name]) => [name, true])) };
}
