import { expect, test } from "vitest";
import { tryAll, tryForm } from "./entries.mjs";
import { EXPECTED, EXPECTED_FORM } from "./smoke.mjs";

test("the package does what it must", async () => {
  expect(await tryAll({ baseUrl: process.env.SERVICE })).toEqual(EXPECTED);
});

test.skipIf(!globalThis.document)("a form checks itself", async () => {
  expect(await tryForm(document)).toEqual(EXPECTED_FORM);
});
