import { within } from "./within.js";

/** A text costs neither side a conversion: it is JSON already. */
const OPTIONS = { contentType: "text" };

/**
 * Puts a text into a queue, and calls `end` with whether it is there in time, and why not.
 * @param {{send: (message: string, options: object) => Promise<unknown>}} queue
 * @param {string} text
 * @param {number} milliseconds
 * @param {(isPut: boolean, error?: unknown) => unknown} end
 * @returns {Promise<unknown>} what that returns
 */
export async function put(queue, text, milliseconds, end) {
  try {
    await within(queue.send(text, OPTIONS), milliseconds);
  } catch (error) {
    return end(false, error);
  }
  return end(true);
}
