// The entry point of the dashboard's Worker. It loads the compiled module.
import module from "./dashboard_bg.wasm";
import * as dashboard from "./dashboard.js";
import { recovering } from "./recover.js";

const BROKEN =
  "Something went wrong on our side. Your change may have been saved: check the page of what you changed before you send it again.\n";

dashboard.initSync({ module });

export default recovering({
  name: "dashboard",
  fetch: dashboard.serve,
  queue: dashboard.queue,
  scheduled: dashboard.scheduled,
  instance: () => dashboard.__worker_init_state().instanceId,
  broken: () =>
    new Response(BROKEN, {
      status: 500,
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    }),
});
