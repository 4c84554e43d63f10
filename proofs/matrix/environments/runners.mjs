/** Test runners, with Node's globals and with those of jsdom and happy-dom. */
import assert from "node:assert/strict";
import { created } from "../../../tests/package/mock-server.mjs";

/**
 * @param {string} name
 * @param {string} environment
 * @param {string} spec as CommonJS or as a module
 */
const jest = (name, environment, spec) => ({
  name: `jest-${name}`,
  version: (workspace) => workspace.version("jest"),
  async run(workspace) {
    workspace.copy("jest");
    workspace.env.SERVICE = workspace.service.baseUrl;
    workspace.write("answer.json", JSON.stringify(created()));
    workspace.write(
      "jest.config.json",
      JSON.stringify({
        testEnvironment: environment,
        testMatch: [`**/${spec}`],
        moduleFileExtensions: ["js", "cjs", "mjs", "json"],
        transform: {},
        watchman: false,
      }),
    );
    const flags = spec.endsWith(".mjs") ? ["--experimental-vm-modules"] : [];
    await workspace.node(...flags, workspace.tool("jest", "bin", "jest.js"), "--ci", "--runInBand");
  },
});

/** @param {string} name @param {string} environment @param {string} pool where the tests run */
const vitest = (name, environment, pool) => ({
  name: `vitest-${name}`,
  version: (workspace) => workspace.version("vitest"),
  async run(workspace) {
    workspace.copy("vitest");
    workspace.env.SERVICE = workspace.service.baseUrl;
    const out = await workspace.node(
      workspace.tool("vitest", "vitest.mjs"),
      "run",
      "--environment",
      environment,
      "--pool",
      pool,
    );
    assert.match(out, environment === "node" ? /1 passed/ : /2 passed/);
  },
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  jest("node", "node", "smoke.spec.cjs"),
  jest("node-esm", "node", "smoke.spec.mjs"),
  jest("jsdom", "jsdom", "smoke.spec.cjs"),
  jest("jsdom-esm", "jsdom", "smoke.spec.mjs"),
  vitest("node", "node", "forks"),
  vitest("jsdom", "jsdom", "forks"),
  vitest("jsdom-vm", "jsdom", "vmThreads"),
  vitest("happy-dom", "happy-dom", "forks"),
];
