/**
 * Reads a body as text, up to a size and until a signal is aborted. Cancels the rest of a body that is longer or late.
 * @param {ReadableStream<Uint8Array> | null} body
 * @param {number} maxBytes
 * @param {AbortSignal} signal
 * @returns {Promise<{text: string, problem?: undefined} | {text?: undefined, problem: "too long" | "too late"}>}
 */
export async function readText(body, maxBytes, signal) {
  if (!body) return { text: "" };
  const reader = body.getReader();
  const late = new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ problem: "too late" }), { once: true });
  });
  const read = await Promise.race([readAll(reader, maxBytes), late]);
  if (read.problem) reader.cancel().catch(() => {});
  return read;
}

async function readAll(reader, maxBytes) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let [text, length] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode() };
    length += value.length;
    if (length > maxBytes) return { problem: "too long" };
    text += decoder.decode(value, { stream: true });
  }
}
