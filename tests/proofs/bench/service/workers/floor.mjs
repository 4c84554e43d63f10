/**
 * A Worker that shows the least time a request can take on workerd. It makes one KV call, but checks no key
 * and no payload, and builds no record. No implementation of the service can be faster.
 */
import { oneCall } from "./one-call.mjs";

const plainly = (promise) => promise;

export default { fetch: (request, env) => oneCall(request, env.PLEDGES, plainly) };
