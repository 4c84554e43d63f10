/**
 * Tests the recipe for webhooks with the packed package: calls its handler directly, in Node. `npm run
 * matrix` tests it as a Worker.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { SENDERS, mustReceive } from "../proofs/matrix/environments/webhooks.mjs";
import { packed } from "./packed.mjs";

const EXAMPLES = join(import.meta.dirname, "..", "..", "examples");
const project = await packed();
const testing = await project.load("impact-pledge/testing");

for (const sender of SENDERS)
  test(`the recipe for webhooks pledges each order of ${sender.name} once`, async (t) => {
    const folder = mkdtempSync(join(project.folder, `${sender.name}-`));
    t.after(() => rmSync(folder, { recursive: true }));
    cpSync(join(EXAMPLES, "orders-webhook"), folder, { recursive: true });
    const { default: handler } = await import(pathToFileURL(join(folder, "index.js")).href);
    const { mock } = t.mock.method(console, "log", () => {});
    const log = () => mock.calls.flatMap((call) => call.arguments).join("\n");
    await mustReceive(sender, testing, async (env) => ({
      log,
      async post(body, headers) {
        const length = String(Buffer.byteLength(body));
        const request = new Request("http://shop.example/", {
          method: "POST",
          headers: { ...headers, "content-length": length },
          body,
        });
        const answer = await handler.fetch(request, env);
        return [answer.status, await answer.text()];
      },
    }));
  });
