/** Requests while the platform fails, and after an instance of the compiled service breaks. */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { create, get } from "../e2e/worker.mjs";
import { KEY, startWorkerd } from "./workerd.mjs";

const TRANSACTION = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

let server, close;
before(async () => ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs")));
after(() => close?.());

let last = 0;
/** With a key that no cache knows, so that KV is asked. */
function ask(standIn) {
  last += 1;
  return create(server.origin, `unknown-${last}`, TRANSACTION, { "x-stand-in": standIn });
}

async function servesOn() {
  const { status, text } = await create(server.origin, KEY, TRANSACTION);
  assert.equal(status, 200, text);
  assert.equal((await get(server.origin, KEY, JSON.parse(text).id)).status, 200);
}

function isOurs({ status, headers, text }, expected, error) {
  assert.equal(status, expected, text);
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  const body = JSON.parse(text);
  assert.equal(body.error, error);
  assert.ok(body.message.length > 0);
}

const FAILURES = [
  "get throws an Error",
  "get throws a string",
  "get is rejected with an Error",
  "get is rejected with a string",
  "get is rejected with undefined",
  "value breaks off",
  "there is none",
];

test("KV fails: 503, and no instance breaks", async (t) => {
  const stuck = ask("get hangs");
  for (const failure of FAILURES) {
    await t.test(failure, async () => {
      isOurs(await ask(failure), 503, "Service unavailable");
      await servesOn();
    });
  }
  isOurs(await stuck, 503, "Service unavailable"); // by its deadline: nothing disturbed it
});

for (const [kind, breaks] of [
  ["KV", "metadata throws an Error"],
  ["KV", "metadata throws a string"],
  ["KV", "metadata throws undefined"],
  ["KV", "metadata exhausts the stack"],
  ["KV", "metadata traps"],
  ["the request", "method throws an Error"],
  ["the request", "url throws a string"],
  ["the request", "headers throw an Error"],
]) {
  test(`${kind}: ${breaks}: all requests in flight get our 500, and the next is served`, async () => {
    const stuck = [ask("get hangs"), ask("get hangs"), ask("get hangs")];
    isOurs(await ask(breaks), 500, "Internal error");
    for (const answer of await Promise.all(stuck)) isOurs(answer, 500, "Internal error");
    await servesOn();
  });
}

test("a panic, and the trap that it ends in: all requests in flight get our 500, and the next is served", async () => {
  for (const _ of [1, 2]) {
    const stuck = [ask("get hangs"), ask("get hangs")];
    const panicked = create(server.origin, KEY, TRANSACTION, {
      "x-stand-in": "body makes it panic",
    });
    for (const answer of await Promise.all([panicked, ...stuck]))
      isOurs(answer, 500, "Internal error");
    await servesOn();
  }
  assert.match(server.output, /Rust panic: [\s\S]*capacity overflow/);
});

test("requests in flight are not disturbed by what a broken instance left behind", async () => {
  for (let round = 0; round < 20; round += 1) {
    const broken = [ask("get hangs"), ask("metadata throws an Error")];
    const fine = Array.from({ length: 10 }, () => create(server.origin, KEY, TRANSACTION));
    for (const answer of await Promise.all(broken)) isOurs(answer, 500, "Internal error");
    for (const answer of await Promise.all(fine))
      assert.ok([200, 500].includes(answer.status), answer.text);
    await servesOn();
  }
});
