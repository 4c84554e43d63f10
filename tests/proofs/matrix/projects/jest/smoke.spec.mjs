import { readFileSync } from "node:fs";
import { tryAll, tryForm } from "./entries.mjs";
import { EXPECTED, EXPECTED_FORM } from "./smoke.mjs";

/** The answer of a mocked `fetch`. jsdom has no `fetch`, so a shop's tests must provide one. */
const answer = readFileSync("answer.json");
const fetch =
  globalThis.fetch ??
  (async () => ({
    status: 200,
    headers: new Map(),
    arrayBuffer: async () => new Uint8Array(answer),
  }));

test("the package does what it must", async () => {
  expect(await tryAll({ baseUrl: process.env.SERVICE, fetch })).toEqual(EXPECTED);
});

(globalThis.document ? test : test.skip)("a form checks itself", async () => {
  expect(await tryForm(document)).toEqual(EXPECTED_FORM);
});
