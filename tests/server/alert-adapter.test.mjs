/**
 * Tests `examples/alert-adapter` in the Workers runtime, with a stand-in for Slack. `npm run matrix` tests
 * the built adapter.
 */
import { join } from "node:path";
import test from "node:test";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { SECRET, TOKEN, checkAdapter, slackStandIn } from "../support/alert-adapter.mjs";

const { createTestHarness } = wrangler();

const CONFIG = join(import.meta.dirname, "../../examples/alert-adapter/wrangler.toml");
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false"; // otherwise miniflare asks Cloudflare for `request.cf`

test("the example adapter posts signed messages once, refuses others, and passes on why Slack fails", async (t) => {
  const slack = await slackStandIn();
  t.after(() => slack.close());
  const vars = {
    SLACK_API: `${slack.origin}/api`,
    SLACK_BOT_TOKEN: TOKEN,
    WEBHOOK_SECRET: SECRET,
  };
  const harness = createTestHarness({ workers: [{ configPath: CONFIG, vars }] });
  t.after(() => harness.close());
  const { url } = await harness.listen();
  await checkAdapter(url.href, slack);
});
