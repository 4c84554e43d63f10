/** Tests the output of the commands. */
import assert from "node:assert/strict";
import test from "node:test";
import { UserError, exitCodeOf, guarded, jsonLine, table } from "../../scripts/lib/output.mjs";

test("an untrusted text neither moves the cursor nor begins a line", () => {
  const text = table(["NAME", "X"], [["a\u001b[2Jb\nc\u009bd\u202ee", "Zoë 🌳"]]);
  assert.equal(text, "NAME          X\na\ufffd[2Jb\ufffdc\ufffdd\ufffde  Zoë 🌳");
});

const HOSTILE = "a\u001b]0;x\u0007\r\u009b2J\u007f\u202e";
const SHOWN = "a\ufffd]0;x\ufffd\ufffd\ufffd2J\ufffd\ufffd";

test("no text controls the terminal: in text output, in an error, in JSON", async () => {
  const said = [];
  const to = /** @type {any} */ ({
    out: (text) => said.push(text),
    err: (text) => said.push(text),
  });
  const { out, err } = guarded(to);
  out(`${HOSTILE}\tb\nc\r\n`);
  err(HOSTILE);
  const fails = (json) =>
    exitCodeOf(() => Promise.reject(new UserError(HOSTILE)), json ? ["--json"] : [], to);
  await fails(false);
  await fails(true);
  const problem = `stopped: ${SHOWN}\n`;
  assert.deepEqual(said.slice(0, -1), [`${SHOWN}\tb\nc\r\n`, SHOWN, problem, problem]);
  for (const line of [said.at(-1).trimEnd(), jsonLine({ error: { message: HOSTILE } })]) {
    assert.doesNotMatch(line, /[\p{Cc}\u202e]/u);
    assert.equal(JSON.parse(line).error.message, HOSTILE);
  }
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
