import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits until the condition holds; fails after the given time. @param {() => unknown} condition @param {number} milliseconds */
export async function until(condition, milliseconds) {
  const deadline = Date.now() + milliseconds;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `still not so after ${milliseconds / 1000} s: ${condition}`);
    await sleep(20);
  }
}
