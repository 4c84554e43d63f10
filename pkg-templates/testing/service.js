/** `impact-pledge/testing`: the real service in the process of a test. */
import { BASE_URL, newFetch, newHandler, newResolver, newRoute } from "./doors.js";
import { invalid } from "../options.js";
import { advanceOf, faultOptions, serviceOptions } from "./options.js";
import { newWorld } from "./world.js";

const MOST_FAULTS = 1_000;

export function createTestService(options) {
  const settings = serviceOptions(options);
  let world = newWorld(settings);
  const serve = (request) => world.serve(request);
  return {
    baseUrl: BASE_URL,
    fetch: newFetch(serve),
    handler: newHandler(serve),
    route: newRoute(serve),
    msw: newResolver(serve),
    now: () => world.clock.now(),
    advance: (ms) => world.clock.advance(advanceOf(ms, world.clock.now())),
    fail(fault) {
      const read = faultOptions(fault);
      if (world.faults.length >= MOST_FAULTS)
        throw invalid(`there are ${MOST_FAULTS} faults already`);
      world.faults.push(read);
    },
    restore: () => void (world.faults.length = 0),
    transactions: () => world.transactions(),
    requests: () => world.requests(),
    reset: () => void (world = newWorld(settings)),
  };
}
