/** Test runners, with Node's globals and with jsdom's. */
import assert from "node:assert/strict";
import { created } from "../../package/mock-server.mjs";

const jest = (environment) => ({
  name: `jest-${environment}`,
  version: (place) => place.version("jest"),
  async run(place) {
    place.copy("jest");
    place.env.SERVICE = place.service.baseUrl;
    place.write("answer.json", JSON.stringify(created()));
    place.write("jest.config.json", JSON.stringify({ testEnvironment: environment, testMatch: ["**/smoke.spec.cjs"], watchman: false }));
    await place.node(place.tool("jest", "bin", "jest.js"), "--ci", "--runInBand");
  },
});

/** @param {string} name @param {string} environment @param {string} pool where the tests run */
const vitest = (name, environment, pool) => ({
  name: `vitest-${name}`,
  version: (place) => place.version("vitest"),
  async run(place) {
    place.copy("vitest");
    place.env.SERVICE = place.service.baseUrl;
    const out = await place.node(place.tool("vitest", "vitest.mjs"), "run", "--environment", environment, "--pool", pool);
    assert.match(out, environment === "jsdom" ? /2 passed/ : /1 passed/);
  },
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = [jest("node"), jest("jsdom"), vitest("node", "node", "forks"), vitest("jsdom", "jsdom", "forks"), vitest("jsdom-vm", "jsdom", "vmThreads")];
