import { within } from "./within.js";

/** The message is already JSON text, so neither side has to convert it. */
const OPTIONS = { contentType: "text" };

/**
 * Puts a text into a queue. Then calls `end`, with a boolean that says whether the queue accepted the text in time, and
 * the error if it did not.
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
