/** The dashboard in local development: the Worker as it is deployed, restricted to this machine. */
import dashboard from "../../build/dashboard/worker.js";
import { forThisMachine } from "./loopback.js";

export default { ...dashboard, fetch: forThisMachine(dashboard.fetch) };
