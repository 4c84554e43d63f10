/** A stand-in for the part of Cloudflare's API that sets up Cloudflare Access. */
import { ok } from "./cloudflare-answers.mjs";

/**
 * Adds the routes of the applications of Access to a server.
 * @param {import("hono").Hono} app
 * @param {string} path the path under which the account's applications are
 * @param {{apps: any[]}} account
 */
export function serveAccess(app, path, { apps }) {
  app.get(path, ({ req }) => {
    const [page, size] = [Number(req.query("page") ?? 1), Number(req.query("per_page") ?? 20)];
    const some = apps.slice((page - 1) * size, page * size);
    return ok(some, { page, per_page: size, count: some.length, total_count: apps.length });
  });
  app.post(path, async ({ req }) => {
    const made = { id: `app-${apps.length + 1}`, ...(await req.json()) };
    apps.push(made);
    return ok(made);
  });
}
