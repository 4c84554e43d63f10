/** Reads bytes that `scripts/lib/printable.mjs` wrote as text. @param {string} text */
export function bytesOf(text) {
  const bytes = [];
  let page = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 122) page = (code - 122) * 88;
    else {
      bytes.push((code === 33 ? 92 : code) - 35 + page);
      page = 0;
    }
  }
  return new Uint8Array(bytes);
}
