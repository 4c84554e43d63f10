/** The rows of tests/fixtures/validation and formats, checked by the real Worker. */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { files } from "./rows.mjs";
import { send, startWorker } from "./worker.mjs";

const KEY = "service_sk_test_dev_unit";
const MOST_TOLD = 20;
const MOST_CHARACTERS = 100; // of a path in a message

/** @type {import("./worker.mjs").Worker} */
let worker;
before(async () => (worker = await startWorker()));
after(() => worker?.close());

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const post = (body) =>
  send(worker.origin, { method: "POST", path: "/v2/pledge-transaction", headers, body });

const bytesOf = ({ value, json, hex }) =>
  hex !== undefined ? Buffer.from(hex, "hex") : (json ?? JSON.stringify(value));

/** A character of a path as a message shows it: control characters are escaped. */
function shown(character) {
  if (!/\p{Cc}/u.test(character)) return character;
  return (
    { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character] ??
    `\\u{${character.codePointAt(0).toString(16)}}`
  );
}

/** How a message names the place of an issue. */
function subject({ path }) {
  const characters = [
    ...path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
  ];
  if (path.length === 0) return "the body ";
  return `\`${characters.slice(0, MOST_CHARACTERS).map(shown).join("")}${characters.length > MOST_CHARACTERS ? "…" : ""}\` `;
}

/** Whether a message names these places, in this order. */
function names(message, issues) {
  let end = 0;
  for (const issue of issues) {
    const start = message.indexOf(subject(issue), end);
    if (start < 0) return false;
    end = start + 1;
  }
  return true;
}

/** @returns {Promise<string[]>} what is wrong with the answer to a row */
async function differences({ name, issues, ...row }) {
  const answer = await post(bytesOf(row));
  if (issues.length === 0)
    return answer.status === 200 ? [] : [`${name}: ${answer.status} ${answer.text.slice(0, 200)}`];
  const { message } = JSON.parse(answer.text);
  const rest = issues.length - MOST_TOLD;
  const counted =
    rest > 0 ? message.endsWith(`; and ${rest} more`) : !/; and \d+ more$/.test(message);
  const right = answer.status === 400 && names(message, issues.slice(0, MOST_TOLD)) && counted;
  return right ? [] : [`${name}: ${answer.status} ${message.slice(0, 200)}`];
}

for (const { file, rows } of files("validation")) {
  test(`${file}: ${rows.length} rows`, async () => {
    const wrong = [];
    for (const row of rows) wrong.push(...(await differences(row)));
    assert.deepEqual(wrong, []);
    assert.equal((await worker.kv.list({ prefix: "key:" })).keys.length, 5);
  });
}

const PLACES = {
  email: (value) => ({ recipient: { email: value } }),
  uri: (value) => ({ trigger: { externalUrl: value } }),
  "date-time": (value) => ({ trigger: { date: value } }),
};
const request = (part) =>
  JSON.stringify({
    reference: "r",
    recipient: { email: "a@b" },
    pledges: [{ impact: { amount: 1, offeringId: "t" } }],
    ...part,
  });

for (const { file, format, rows } of files("formats")) {
  test(`${file}: ${rows.length} rows`, async () => {
    const wrong = [];
    for (const { value, valid, why } of rows) {
      const { status } = await post(request(PLACES[format](value)));
      if (status !== (valid ? 200 : 400))
        wrong.push(`${JSON.stringify(value)} (${why}): ${status}`);
    }
    assert.deepEqual(wrong, []);
  });
}
