/**
 * The Worker of local development: the service as it is deployed, and a demo shop that uses it. A deploy contains
 * only the service, as wrangler.toml states.
 */
import service from "../../build/worker.js";
import { withEarlier } from "./earlier.js";
import { withRetries } from "./locked.js";
import { forThisMachine } from "./loopback.js";
import { PATH as MESSENGER, deliver, withMessengers } from "./messengers.js";
import { mails, noteOrigin, notify, withMails } from "./mails.js";
import { order } from "./order.js";
import { filled, freshOrder, withSender } from "./page.js";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export default {
  fetch: forThisMachine(async (request, variables, context) => {
    const url = new URL(request.url);
    const { pathname, origin } = url;
    const env = withMessengers(withRetries(variables), origin);
    noteOrigin(origin);
    const checkout = async () => {
      const page = withSender(await env.ASSETS.fetch(`${origin}/`), env.PLEDGE_SERVICE_URL);
      return withEarlier(page, { env, context, origin });
    };
    if (pathname === "/shop/order") return secured(await order(request, env, context, checkout));
    if (pathname === MESSENGER) return deliver(request, env);
    if (pathname === "/developer/notifications") return secured(await notify(request, env));
    if (!["GET", "HEAD"].includes(request.method) || /^\/(v2|timeline)(\/|$)/.test(pathname))
      return service.fetch(request, env, context);
    if (/^\/developer\/mails(\/|$)/.test(pathname)) return mails(url, env);
    if (pathname === "/")
      return secured(filled(await checkout(), { values: freshOrder() }), {
        "cache-control": "no-store",
      });
    const asset = await env.ASSETS.fetch(request);
    return asset.status === 404 ? service.fetch(request, env, context) : secured(asset);
  }),
  queue: (batch, env) => service.queue(batch, withMails(withRetries(env))),
};

function secured(response, more = {}) {
  const headers = new Headers(response.headers);
  const rules = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "content-security-policy": CONTENT_SECURITY_POLICY,
  };
  for (const [name, value] of Object.entries({ ...rules, ...more })) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}
