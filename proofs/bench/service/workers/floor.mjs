/**
 * The lower limit of this design on workerd: the platform's own work and one KV call, without key, check and
 * record. No implementation can be faster.
 */
import { oneCall } from "./one-call.mjs";

const plainly = (promise) => promise;

export default { fetch: (request, env) => oneCall(request, env.PLEDGES, plainly) };
