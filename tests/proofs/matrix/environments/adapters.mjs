/** Tests the example adapter for a messenger after its build. A local server stands in for the messenger. */
import assert from "node:assert/strict";
import { SECRET, TOKEN, checkAdapter, slackStandIn } from "../../../support/alert-adapter.mjs";
import { SERVE, mustPin } from "./recipes.mjs";

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  {
    name: "recipe-alert-adapter",
    version: (workspace) => workspace.version("standardwebhooks"),
    async run(workspace) {
      workspace.copyRecipe("alert-adapter");
      mustPin(workspace, { usesPackage: false });
      await workspace.node("npm run build --silent");
      const slack = await slackStandIn();
      try {
        workspace.write(".dev.vars", `WEBHOOK_SECRET=${SECRET}\nSLACK_BOT_TOKEN=${TOKEN}\n`);
        const origin = await workspace.start(
          `${SERVE} -- --ip 127.0.0.1 --port PORT --inspector-port 0 --show-interactive-dev-session=false --var SLACK_API:${slack.origin}/api`,
        );
        await checkAdapter(origin, slack);
        const log = workspace.output();
        assert.match(log, /\{"id":"ptran_1_MessagingServiceA_\d+","status":422,"reason":"\w+"\}/);
        assert.doesNotMatch(log, /example\.org|Ada|edit_key|xoxb|whsec|FORGED/);
      } finally {
        await slack.close();
      }
    },
  },
];
