/**
 * A stand-in for the pledge service, on a loopback port. Pages of any origin may call it. It keeps the
 * requests that it has received.
 */
import { created, json, serve } from "../../../package/mock-server.mjs";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type, idempotency-key",
};

/**
 * @returns {Promise<{baseUrl: string, seen: import("../../../package/mock-server.mjs").Seen[], close: () => Promise<void>}>}
 */
export function useService() {
  return serve((response, seen) =>
    seen.method === "OPTIONS"
      ? response.writeHead(204, CORS).end()
      : json(created(), { headers: CORS })(response, seen),
  );
}
