/** The Workers of development, for this machine alone. */
import { refusalOf } from "../../pkg-templates/bin/loopback.ts";

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
};

/** Answers by `fetch`, but for requests to another host. */
export const forThisMachine = (fetch) => (request, env, context) => {
  const refusal = refusalOf(request.headers.get("host"));
  if (refusal === undefined) return fetch(request, env, context);
  return new Response(refusal, { status: 403, headers: HEADERS });
};
