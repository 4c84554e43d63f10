/** The dashboard's Worker under wrangler, on a namespace in memory. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestHarness } from "wrangler";
import { tools } from "../e2e/script.mjs";

/**
 * @param {object} wish
 * @param {string} wish.main from the clone's root
 * @param {string} wish.email of the person whom Access names
 * @param {Record<string, string>} wish.vars who may do what
 * @param {{configPath: string}[]} [wish.others] further Workers on the same namespace
 */
export async function startDashboard({ main, email, vars, others = [] }) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
  const configPath = join(folder, "wrangler.json");
  writeFileSync(
    configPath,
    JSON.stringify({
      name: "dashboard",
      main: join(tools.root, main),
      compatibility_date: "2026-10-01",
      keep_names: false,
      access: { dev: { aud: "test", identity: { email } } },
      kv_namespaces: [{ binding: "PLEDGES" }],
      vars: { ...vars, ENVIRONMENT: "production" },
    }),
  );
  const harness = createTestHarness({ workers: [{ configPath }, ...others] });
  const close = async () => {
    await harness.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { url } = await harness.listen();
    const { PLEDGES: kv } = await harness.getWorker().getEnv();
    return { harness, origin: url.origin, kv, close };
  } catch (error) {
    await close();
    throw error;
  }
}
