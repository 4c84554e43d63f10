/** The service with counted bindings. `GET /counts` returns the counts since the last such request. */
import service from "../../../build/worker.js";
import { counted, taken } from "./counting.mjs";

export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === "/counts"
      ? Response.json(taken())
      : service.fetch(request, counted(env), context),
};
