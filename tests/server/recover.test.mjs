/** What becomes of requests when the compiled service panics. */
import assert from "node:assert/strict";
import test from "node:test";
import { recovering } from "../../src/server/recover.js";

console.error = () => {}; // every case here panics, and the log says so

/** A module that serves what it is told: its instances are counted, and each has a panic hook of its own. */
function sample(serve) {
  const module = { instance: 1, panic: null, trap: null };
  const fetch = recovering({
    fetch: (request, _env, answer) => void serve(request, module).then(answer),
    onPanic: (callback) => (module.panic = callback),
    onTrap: (callback) => (module.trap = callback),
    restart: () => (module.instance += 1),
  });
  return { module, fetch };
}

const served = (request, { instance }) => Promise.resolve(new Response(`${request} by ${instance}`));
const never = () => new Promise(() => {});

async function isInternalError(response) {
  assert.equal(response.status, 500);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.equal((await response.json()).error, "Internal error");
}

test("a response is passed on as it is", async () => {
  const response = new Response("fine");
  const { fetch } = sample(() => Promise.resolve(response));
  assert.equal(await fetch("a", {}), response);
});

test("a panic answers every request in flight, and the next is served by a new instance", async () => {
  const { module, fetch } = sample((request, module) => (request === "stuck" ? never() : served(request, module)));
  const stuck = [fetch("stuck"), fetch("stuck"), fetch("stuck")];
  module.panic("index out of bounds");
  for (const response of await Promise.all(stuck)) await isInternalError(response);
  assert.equal(await (await fetch("next")).text(), "next by 2");
  assert.equal(await (await fetch("after")).text(), "after by 2");
});

test("the new instance has a panic hook too", async () => {
  const { module, fetch } = sample((request, module) => (request === "stuck" ? never() : served(request, module)));
  for (const instance of [2, 3]) {
    const stuck = fetch("stuck");
    module.panic("again");
    await isInternalError(await stuck);
    assert.equal(await (await fetch("next")).text(), `next by ${instance}`);
  }
});

test("a trap without a message, at once or later, is a panic", async () => {
  const trap = new WebAssembly.RuntimeError("unreachable");
  const throws = () => { throw trap; };
  const { module, fetch } = sample((request, module) => ({ "at once": throws, later: never }[request] ?? served)(request, module));
  await isInternalError(await fetch("at once"));
  assert.equal(await (await fetch("next")).text(), "next by 2");
  const stuck = fetch("later");
  module.trap(trap);
  await isInternalError(await stuck);
  assert.equal(await (await fetch("next")).text(), "next by 3");
});

test("a request that was answered before a panic stays answered", async () => {
  const { module, fetch } = sample(served);
  const response = await fetch("first");
  module.panic("too late for it");
  assert.equal(await response.text(), "first by 1");
});
