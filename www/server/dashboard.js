/** The dashboard in development: as it is deployed, for this machine alone. */
import dashboard from "../../build/dashboard/worker.js";
import { forThisMachine } from "./loopback.js";

export default { ...dashboard, fetch: forThisMachine(dashboard.fetch) };
