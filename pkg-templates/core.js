/** The compiled client, made on first use. */
import { ask, checkCaller, initSync, isLiveKey } from "#client";
import { compile } from "#module";

let made;

export function core() {
  if (made === undefined) {
    initSync({ module: compile() });
    made = { ask, checkCaller, isLiveKey };
  }
  return made;
}
