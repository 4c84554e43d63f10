/** `impact-pledge/testing`: the real service in the process of a test. */
import { invalid } from "../options.js";
import { BASE_URL, newFetch, newHandler } from "./http.js";
import { advanceOf, faultOptions, serviceOptions } from "./options.js";
import { newState } from "./state.js";

const MOST_FAULTS = 1_000;

export function createTestService(options) {
  const settings = serviceOptions(options);
  let state = newState(settings);
  const serve = (request) => state.serve(request);
  return {
    baseUrl: BASE_URL,
    fetch: newFetch(serve),
    handler: newHandler(serve),
    now: () => state.clock.now(),
    advance: (ms) => state.clock.advance(advanceOf(ms, state.clock.now())),
    fail(fault) {
      const read = faultOptions(fault);
      if (state.faults.length >= MOST_FAULTS)
        throw invalid(`there are ${MOST_FAULTS} faults already`);
      state.faults.push(read);
    },
    restore() {
      state.faults.length = 0;
    },
    transactions: () => state.transactions(),
    requests: () => state.requests(),
    reset() {
      state = newState(settings);
    },
  };
}
