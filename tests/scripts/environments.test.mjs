/** The environments of wrangler.toml: what they must have in common, since none inherits bindings or variables. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { configuration } from "../../scripts/lib/kv.mjs";

const FILE = join(import.meta.dirname, "../..", "wrangler.toml");
/** What may differ: names, addresses, values of variables, and how much is logged. */
const OWN = ["name", "targetEnvironment", "route", "routes", "workers_dev", "preview_urls", "vars", "observability", "limits", "placement", "account_id"];
const common = (config) => Object.fromEntries(Object.entries(config).filter(([name]) => !OWN.includes(name)));

const top = await configuration(FILE);

test("there are staging and production", () => {
  assert.deepEqual(top.definedEnvironments, ["staging", "production"]);
});

for (const environment of top.definedEnvironments) {
  test(`${environment} has the bindings and variables of the top level`, async () => {
    const config = await configuration(FILE, environment);
    assert.equal(config.name, `${top.name}-${environment}`);
    assert.deepEqual(common(config), common(top));
    assert.deepEqual(Object.keys(config.vars).sort(), Object.keys(top.vars).sort());
    assert.equal(config.observability.redact_query_string, true);
    assert.equal(config.observability.logs.invocation_logs, false);
    assert.equal(config.observability.traces.enabled, false);
  });
}
