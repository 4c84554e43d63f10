import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * How long a test waits for an event before it fails. This is far longer than any event takes on a busy
 * machine, and less than the timeout of a test file. It prevents endless waits, and says nothing about speed.
 */
export const PATIENCE_MS = 10 * 60_000;

/** Waits until the condition holds. @param {() => unknown} condition */
export async function until(condition) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `still not so: ${condition}`);
    await sleep(20);
  }
}
