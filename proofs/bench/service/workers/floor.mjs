/**
 * Shows the lower limit of this design on workerd: the platform's own work and one KV call, without checking a key or
 * a payload and without building a record. No implementation can be faster.
 */
import { oneCall } from "./one-call.mjs";

const plainly = (promise) => promise;

export default { fetch: (request, env) => oneCall(request, env.PLEDGES, plainly) };
