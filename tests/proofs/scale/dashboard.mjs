/** The dashboard's Worker with counted bindings. `GET /counts` returns the counts since the last such request. */
import dashboard from "../../../build/dashboard/worker.js";
import { counted, taken } from "./counting.mjs";

export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === "/counts"
      ? Response.json(taken())
      : dashboard.fetch(request, counted(env), context),
  queue: (batch, env) => dashboard.queue(batch, counted(env)),
  scheduled: (event, env) => dashboard.scheduled(event, counted(env)),
};
