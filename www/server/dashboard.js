/**
 * The dashboard for local development: the deployed Worker, but it answers only requests to this machine's
 * own host names.
 */
import dashboard from "../../build/dashboard/worker.js";
import { forThisMachine } from "./loopback.js";

export default { ...dashboard, fetch: forThisMachine(dashboard.fetch) };
