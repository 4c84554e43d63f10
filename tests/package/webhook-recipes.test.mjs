/** Tests the recipes for webhooks with the packed package, as `npm run matrix` does. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { environments } from "../proofs/matrix/environments/webhooks.mjs";
import { Workspace } from "../proofs/matrix/lib/workspace.mjs";
import { packed } from "./packed.mjs";

const root = join(import.meta.dirname, "..", "..");
const { folder: home } = await packed();

describe("the recipes for webhooks", { concurrency: true }, () => {
  for (const { name, run } of environments)
    test(name, async (t) => {
      const folder = mkdtempSync(join(home, `${name}-`));
      const tools = /** @type {any} */ ({ root, env: process.env });
      const service = /** @type {any} */ ({ baseUrl: "" });
      const browser = () => Promise.reject(new Error("the recipes have no pages"));
      const workspace = new Workspace({ tools, home, folder, service, browser });
      t.after(async () => {
        await workspace.leave();
        rmSync(folder, { recursive: true });
      });
      await run(workspace);
    });
});
