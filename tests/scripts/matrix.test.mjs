/** Tests which environments `npm run matrix` has, and when it passes. */
import assert from "node:assert/strict";
import test from "node:test";
import { chosen, outcomeOf } from "../proofs/matrix/main.mjs";
import { Skipped, findFirefox } from "../proofs/matrix/lib/browser.mjs";

const missing = new Skipped("there is none for this machine");
const wrong = new Error("wrong");

const OUTCOMES = [
  ["wrong is wrong", wrong, undefined, {}, "failed"],
  ["wrong is wrong, even where it may be missing", wrong, "why", {}, "failed"],
  ["what can't be had is left out", missing, undefined, {}, "skipped"],
  ["but not in CI", missing, undefined, { CI: "true" }, "failed"],
  ["unless that is known", missing, "why", { CI: "true" }, "skipped"],
];

for (const [what, error, mayBeMissing, env, outcome] of OUTCOMES) {
  test(`an environment that fails: ${what}`, () =>
    assert.equal(outcomeOf(error, mayBeMissing, env), outcome));
}

const named = (...names) => chosen(names).map(({ name }) => name);

test("an environment is chosen by its name, or by the first words of it", () => {
  assert.deepEqual(named("vite"), ["vite-dev", "vite-build", "vite-strict"]);
  assert.deepEqual(named("vite-build", "page"), ["page", "vite-build"]);
  assert.deepEqual(named("vit"), []);
});

test("there are 65, and each has a name of its own", () => assert.equal(new Set(named()).size, 65));

test("Firefox is taken from FIREFOX_PATH or PATH, else skipped with a reason", () => {
  assert.equal(
    findFirefox({ FIREFOX_PATH: "/opt/firefox/firefox", PATH: "" }),
    "/opt/firefox/firefox",
  );
  assert.throws(
    () => findFirefox({ PATH: import.meta.dirname }),
    (error) => error instanceof Skipped && /FIREFOX_PATH/.test(error.message),
  );
});
