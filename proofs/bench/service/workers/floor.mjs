/**
 * The least that this design can cost on workerd: the platform's own work and one KV call, no key, no check, no
 * record made. No implementation can be faster than this.
 */
import { oneCall } from "./one-call.mjs";

const plainly = (promise) => promise;

export default { fetch: (request, env) => oneCall(request, env.PLEDGES, plainly) };
