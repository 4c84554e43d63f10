/** The output of the commands. */
import assert from "node:assert/strict";
import test from "node:test";
import { table } from "../../scripts/lib/output.mjs";

test("a text of somebody else's neither moves the cursor nor begins a line", () => {
  const text = table(["NAME", "X"], [["a\u001b[2Jb\nc\u009bd\u202ee", "Zoë 🌳"]]);
  assert.equal(text, "NAME          X\na\ufffd[2Jb\ufffdc\ufffdd\ufffde  Zoë 🌳");
});

test("a table may be long", () => {
  assert.equal(
    table(
      ["N"],
      Array.from({ length: 200_000 }, (_, n) => [String(n)]),
    ).split("\n").length,
    200_001,
  );
});
