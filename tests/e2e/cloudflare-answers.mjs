/** Returns a successful response in the format of Cloudflare's API. */

export const ok = (result, result_info = {}) =>
  Response.json({ success: true, errors: [], messages: [], result, result_info });

export function failure(status, message, code = 10_007, headers = {}) {
  const errors = [{ code, message }];
  const body = { success: false, errors, messages: [], result: null };
  return Response.json(body, { status, headers });
}

export const missing = () => failure(404, "This does not exist on your account.");
