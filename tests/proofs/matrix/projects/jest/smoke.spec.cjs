const { EXPECTED, EXPECTED_FORM, tryAll, tryForm } = require("./entries.cjs");

/** The answer of a mocked `fetch`. jsdom has no `fetch`, so a shop's tests must provide one. */
const answer = JSON.stringify(require("./answer.json"));
const fetch =
  globalThis.fetch ??
  (async () => ({
    status: 200,
    headers: new Map(),
    arrayBuffer: async () => new Uint8Array(Buffer.from(answer)),
  }));

test("the package does what it must", async () => {
  expect(await tryAll({ baseUrl: process.env.SERVICE, fetch })).toEqual(EXPECTED);
});

(globalThis.document ? test : test.skip)("a form checks itself", async () => {
  expect(await tryForm(document)).toEqual(EXPECTED_FORM);
});
