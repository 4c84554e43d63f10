/** Tests which comments and texts can be in the random samples that `npm run samples` prints. */
import assert from "node:assert/strict";
import test from "node:test";
import { exitCodeOf } from "../../scripts/lib/output.mjs";
import samples from "../../scripts/lib/samples.mjs";

async function drawn(t, ...args) {
  const { mock } = t.mock.method(console, "log", () => {});
  await samples.parseAsync(args, { from: "user" });
  t.mock.restoreAll();
  return String(mock.calls[0].arguments[0]);
}

test("a seed draws the same samples again, and another seed draws others", async (t) => {
  const first = await drawn(t, "--seed", "1");
  assert.equal(await drawn(t, "--seed", "1"), first);
  assert.notEqual(await drawn(t, "--seed", "2"), first);
  const [comments, texts] = first.split("## Texts");
  const count = (part) => part.match(/^\d+\. /gm)?.length;
  assert.deepEqual([count(comments), count(texts)], [130, 60]);
});

test("a sample of a comment has no marks of the language", async (t) => {
  const [comments] = (await drawn(t, "--seed", "3", "--comments", "20000")).split("## Texts");
  assert.doesNotMatch(comments, /^ {3}(?:\/\/[/!]|\/\*\*|\* )/m);
  assert.doesNotMatch(comments, /^ {3}.*@(?:param|property|returns|type|typedef) \{/m);
  assert.doesNotMatch(comments, /^ {3}.*@(?:param \w+|returns) @/m);
  assert.doesNotMatch(comments, /await page/, "a string with two stars begins no comment");
});

test("a comment is shown with the types that it defines, not with the next comment", async (t) => {
  const [comments] = (await drawn(t, "--seed", "3", "--comments", "20000")).split("## Texts");
  assert.match(comments, /^\d+\. tests\/proofs\/faults\/mix\.mjs: type Caller, type Ask$/m);
  assert.match(comments, /^\d+\. tests\/proofs\/faults\/mix\.mjs$/m);
  assert.doesNotMatch(comments, /^\d+\. \S+: (?:\/\*\*|\/\/[/!])/m);
});

test("a count that is no number is refused", async () => {
  const quiet = { out: () => {}, err: () => {} };
  const program = samples.exitOverride().configureOutput({ writeErr: () => {} });
  const parse = () => program.parseAsync(["--seed", "x"], { from: "user" });
  assert.equal(await exitCodeOf(parse, [], quiet), 2);
});
