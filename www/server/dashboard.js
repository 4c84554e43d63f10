/**
 * The dashboard for local development. It is the deployed Worker, except that it answers only requests to
 * this machine's own host names.
 */
import dashboard from "../../build/dashboard/worker.js";
import { forThisMachine } from "./loopback.js";

export default { ...dashboard, fetch: forThisMachine(dashboard.fetch) };
