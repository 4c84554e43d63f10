/* `impact-pledge/testing`: the real service in the process of a test. */
import { invalid } from "../options.ts";
import type { Incoming } from "./exchange.ts";
import { BASE_URL, newFetch, newHandler } from "./http.ts";
import { advanceOf, countOf, faultOptions, receivedOptions, serviceOptions } from "./options.ts";
import { newState } from "./state.ts";
import type { TestService, TestServiceOptions } from "./types.ts";

export type {
  RecordedEmail,
  RecordedMessage,
  RecordedRequest,
  RecordedTransaction,
  TestCatalogue,
  TestFault,
  TestKey,
  TestService,
  TestServiceOptions,
} from "./types.ts";

const MOST_FAULTS = 1_000;

/**
 * Starts the real, compiled service in this process: without a network, with its data in memory, and with its own clock and
 * randomness. Several services are independent of each other.
 *
 * @example
 * ```js
 * import { PledgeClient } from "impact-pledge";
 * import { createTestService } from "impact-pledge/testing";
 *
 * const service = createTestService({ seed: 1, now: "2026-01-31T12:00:00Z" });
 * const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: service.baseUrl, fetch: service.fetch });
 * const { id, charge } = await client.createPledgeTransaction(payload);
 * console.log(id, charge.amount); // ptran_f74hxzdglvtizih7iq4ocnqzxwqu6vjjrwgqw62poq 0.50
 * ```
 *
 * @throws {PledgeError} with the code `invalid_argument` if an option is invalid; the message names it
 */
export function createTestService(options?: TestServiceOptions): TestService {
  const settings = serviceOptions(options);
  let state = newState(settings);
  const serve = (request: Incoming) => state.serve(request);
  return {
    baseUrl: BASE_URL,
    fetch: newFetch(serve),
    handler: newHandler(serve),
    now: () => state.clock.now(),
    advance: (ms) => state.clock.advance(advanceOf(ms, state.clock.now())),
    fail(fault) {
      const read = faultOptions(fault);
      if (state.faults.length >= MOST_FAULTS)
        throw invalid(`there are ${MOST_FAULTS} faults already, the maximum`);
      state.faults.push(read);
    },
    restore() {
      state.faults.length = 0;
    },
    transactions: () => state.transactions(),
    emails: () => state.emails(),
    messages: () => state.messages(),
    requests: () => state.requests(),
    received: async (count, options) => state.received(countOf(count), receivedOptions(options)),
    reset() {
      state = newState(settings);
    },
  };
}
