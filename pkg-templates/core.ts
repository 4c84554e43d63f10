/* The compiled client, made on first use. */
import { checkCredentials, initSync, isLiveKey, send } from "#client";
import { compile } from "#module";

export function core(): Pick<typeof import("#client"), "checkCredentials" | "isLiveKey" | "send"> {
  initSync({ module: compile() }); // only the first call does anything
  return { checkCredentials, isLiveKey, send };
}
