import { changes } from "./recover.js";

/**
 * Returns the response to a request during which the wasm instance broke.
 * @param {Request} request
 * @param {string} id the request's ID
 */
export function broken(request, id) {
  const message = `${messageFor(request)} The request's ID is \`${id}\`.`; // in the format of `src/pledges/api/problem.rs`
  const headers = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return Response.json({ error: "Internal error", message }, { status: 500, headers });
}

/**
 * Returns the error message. A create request may already have been recorded, so it gets the same message as
 * an unconfirmed write in `src/pledges/api/problem.rs`.
 */
function messageFor(request) {
  if (!changes(request)) return "Something is wrong on our side. Send the request again later.";
  return isRepeatable(request)
    ? "The transaction may have been recorded. Repeat the request with the same Idempotency-Key: it is recorded only once."
    : "The transaction may have been recorded, and a repeat may record it twice. To be able to repeat safely, send an Idempotency-Key.";
}

function isRepeatable(request) {
  try {
    return request.headers.has("idempotency-key");
  } catch {
    return false;
  }
}
