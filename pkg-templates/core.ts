/* The compiled client, made on first use. */
import { checkCredentials, initSync, isLiveKey, send } from "#client";
import { compile } from "#module";

export function core(): Pick<typeof import("#client"), "checkCredentials" | "isLiveKey" | "send"> {
  initSync({ module: compile() }); // once: wasm-bindgen returns at once when called again
  return { checkCredentials, isLiveKey, send };
}
