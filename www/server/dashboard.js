/** The dashboard in development: the deployed Worker, restricted to this machine. */
import dashboard from "../../build/dashboard/worker.js";
import { forThisMachine } from "./loopback.js";

export default { ...dashboard, fetch: forThisMachine(dashboard.fetch) };
