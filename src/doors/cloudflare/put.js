import { within } from "./within.js";

/**
 * The options that queue a message as text. The message is already JSON text, so neither the sender nor the
 * receiver has to convert it.
 */
const OPTIONS = { contentType: "text" };

/**
 * Puts a text into a queue, and then calls `end`. The first argument of `end` is whether the queue accepted
 * the text in time. The second is the error, if there is one.
 * @param {{send: (message: string, options: object) => Promise<unknown>}} queue
 * @param {string} text
 * @param {number} milliseconds
 * @param {(isPut: boolean, error?: unknown) => unknown} end
 * @returns {Promise<unknown>} what `end` returns
 */
export async function put(queue, text, milliseconds, end) {
  try {
    await within(queue.send(text, OPTIONS), milliseconds);
  } catch (error) {
    return end(false, error);
  }
  return end(true);
}
