/* Randomness: the platform's, or with a seed a repeatable sequence. */

/** Fills an array with random bytes. */
export type Random = (bytes: Uint8Array<ArrayBuffer>) => void;

export function newRandom(seed?: string): Random {
  if (seed === undefined) return (bytes) => void crypto.getRandomValues(bytes);
  let state = 0x811c9dc5; // FNV-1a of the text, then mulberry32: good enough for distinct IDs
  for (const char of seed) state = Math.imul(state ^ char.codePointAt(0)!, 0x01000193);
  const next = mulberry32(state);
  return (bytes) => {
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = next();
  };
}

/** Returns a generator of pseudorandom 32-bit integers, which may be negative. `state` is the seed. */
export function mulberry32(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return mixed ^ (mixed >>> 14);
  };
}
