/* The compiled client, instantiated on first use. */
import {
  checkCall,
  checkCredentials,
  conclude,
  fetchArguments,
  initSync,
  isLiveKey,
  newIdempotencyKey,
} from "#client";
import { compile } from "#module";

const CORE = {
  checkCall,
  checkCredentials,
  conclude,
  fetchArguments,
  isLiveKey,
  newIdempotencyKey,
};

export function core(): typeof CORE {
  initSync({ module: compile() }); // only the first call has an effect
  return CORE;
}
