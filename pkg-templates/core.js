/** The compiled client, made on first use. */
import { checkCredentials, initSync, isLiveKey, send } from "#client";
import { compile } from "#module";

let made;

export function core() {
  if (made === undefined) {
    initSync({ module: compile() });
    made = { checkCredentials, isLiveKey, send };
  }
  return made;
}
