/** Makes the Workers of local development answer only requests to this machine's own host names. */
import { refusalOf } from "../../pkg-templates/bin/loopback.ts";

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
};

/**
 * Returns a handler that calls `fetch` for requests to a local host name, and refuses any other host. A request of another
 * Worker has no `Host` header, but its address has a host.
 */
export const forThisMachine = (fetch) => (request, env, context) => {
  const refusal = refusalOf(request.headers.get("host") ?? new URL(request.url).host);
  if (refusal === undefined) return fetch(request, env, context);
  return new Response(refusal, { status: 403, headers: HEADERS });
};
