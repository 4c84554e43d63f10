/**
 * Exchanges frequent WebAssembly instructions (bytes 0x68 to 0x77) for rarer bytes (0x48 to 0x57). After
 * that, the frequent instructions need no prefix in printable text.
 */
export const swapped = (byte: number) => (((byte + 8) & 0xd0) === 0x50 ? byte ^ 0x38 : byte);

/** Decodes bytes that `scripts/lib/printable.mjs` wrote as text. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let page = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 122) page = (code - 122) * 88;
    else {
      bytes.push(swapped((code === 33 ? 92 : code) - 35 + page));
      page = 0;
    }
  }
  return new Uint8Array(bytes);
}
