/** `npm start`, from the first line that it prints to the last process that it ends. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scratch, script, start } from "./script.mjs";

const START_MS = 300_000; // a first build is long
const REVOKED_MS = 30_000;

async function listen() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: server.address().port };
}

async function freePort() {
  const { server, port } = await listen();
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Starts the service and waits for all that it prints.
 * @param {import("node:test").TestContext} t
 */
async function running(t, { port, persistTo }) {
  const service = start("start", ["--persist-to", persistTo], { env: { PORT: String(port) } });
  t.after(() => service.kill("SIGTERM"));
  const ended = service.done.then(({ code, problem }) =>
    assert.fail(`it ended with ${code}: ${problem}`),
  );
  await Promise.race([ended, until(() => service.out().includes("Ctrl-C ends it"), START_MS)]);
  ended.catch(() => {}); // from here on it may end
  return service;
}

async function until(condition, milliseconds) {
  const deadline = Date.now() + milliseconds;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `still not so after ${milliseconds / 1000} s: ${condition}`);
    await sleep(100);
  }
}

/** The processes that descend from one, found while it lives. @param {number} root */
function family(root) {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (pid) =>
    pairs.filter(([, parent]) => parent === pid).flatMap(([child]) => [child, ...below(child)]);
  return below(root);
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Pastes the line that was printed. */
function paste(service) {
  const [command] = service.out().match(/^curl -s [\s\S]*?\n\n/m);
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** The shop, the page for developers and the API, each where the greeting says that it is. */
async function showsWhatItNames(greeting, port) {
  const origin = `http://127.0.0.1:${port}`;
  const places = Object.fromEntries(
    [...greeting.matchAll(/^ {2}(\w.*?) {2,}(?:POST |GET )?(http\S+)$/gm)].map(([, name, url]) => [
      name,
      url,
    ]),
  );
  assert.deepEqual(places, {
    "the demo shop": `${origin}/`,
    "what it sent and got": `${origin}/developer`,
    "create by the API": `${origin}/v2/pledge-transaction`,
    "read by the API": `${origin}/v2/pledge-transaction/{id}`,
  });
  const page = async (name) => (await fetch(places[name])).text();
  assert.match(await page("the demo shop"), /<form id="checkout"/);
  assert.match(await page("what it sent and got"), /What just happened/);
  assert.equal((await fetch(places["create by the API"], { method: "POST" })).status, 401);
  const order = {
    reference: "r",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 2, offeringId: "tree" } }],
  };
  const placed = await fetch(`${origin}/shop/order`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  assert.ok((await placed.json()).timelineUrl.startsWith(`${origin}/timeline/ptran_`));
}

test("the printed line creates, the keys read, and all of it survives a restart", async (t) => {
  const [port, persistTo] = [await freePort(), scratch(t)];
  const url = `http://127.0.0.1:${port}/v2/pledge-transaction`;
  const get = (id, key, unit) =>
    fetch(`${url}/${id}`, {
      headers: { authorization: `Bearer ${key}`, ...(unit && { "x-service-unit-id": unit }) },
    });

  const first = await running(t, { port, persistTo });
  const { id, isLive, charge, timelineUrl } = paste(first);
  assert.match(id, /^ptran_/);
  assert.equal(isLive, false);
  assert.deepEqual(charge, { amount: "1.50", currencyCode: "USD", paidAt: null });
  const timeline = await fetch(timelineUrl);
  assert.equal(timeline.status, 200);
  assert.match(await timeline.text(), /Ada/);
  await showsWhatItNames(first.out(), port);

  const keys = [...first.out().matchAll(/^ {2}(service_sk_\w+) +(\w+)/gm)].map(([, key, whose]) => [
    key,
    whose,
  ]);
  assert.equal(keys.length, 5);
  const seen = await Promise.all(
    keys.map(async ([key, whose]) => [
      key,
      (await get(id, key, whose === "team_dev" && "unit_dev")).status,
    ]),
  );
  assert.deepEqual(Object.fromEntries(seen), {
    service_sk_test_dev_unit: 200,
    service_sk_live_dev_unit: 404,
    service_sk_test_dev_unit_two: 404,
    service_sk_test_dev_team: 200,
    service_sk_live_dev_team: 404,
  });

  const set = await script("catalogue", ["set", "-", "--mode", "test", "--persist-to", persistTo], {
    input: '{"currencyCode":"EUR","unitPrices":{"tree":"2"}}',
  });
  assert.equal(set.code, 0, set.problem);
  first.kill("SIGTERM");
  assert.equal((await first.done).code, 0);

  const second = await running(t, { port, persistTo });
  assert.equal((await get(id, "service_sk_test_dev_unit")).status, 200);
  assert.deepEqual(paste(second).charge, { amount: "6.00", currencyCode: "EUR", paidAt: null });
});

test("a new key works at once, and a revoked one ends", async (t) => {
  const [port, persistTo] = [await freePort(), scratch(t)];
  await running(t, { port, persistTo });
  const made = await script("keys", [
    "create",
    "--mode",
    "live",
    "--unit",
    "unit_new",
    "--json",
    "--persist-to",
    persistTo,
  ]);
  const { key, id } = JSON.parse(made.out);
  const status = async () =>
    (
      await fetch(`http://127.0.0.1:${port}/v2/pledge-transaction/ptran_unknown`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;
  assert.equal(await status(), 404);
  const revoked = await script("keys", ["revoke", id, "--persist-to", persistTo]);
  assert.equal(revoked.code, 0, revoked.problem);
  await until(async () => (await status()) === 401, REVOKED_MS);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  test(`${signal} ends everything`, async (t) => {
    const port = await freePort();
    const service = await running(t, { port, persistTo: scratch(t) });
    const children = family(service.pid);
    const { stdout } = spawnSync("ps", ["-o", "args=", "-p", children.join()], {
      encoding: "utf8",
    });
    assert.match(stdout, /workerd/);
    service.kill(signal);
    assert.equal((await service.done).code, 0);
    await until(() => !children.some(alive), 5_000);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  });
}

test("who ends it before it serves leaves nothing behind", async (t) => {
  const service = start("start", ["--persist-to", scratch(t)], {
    env: { PORT: String(await freePort()) },
  });
  let children = [];
  await until(() => {
    if (service.problem().includes("building the service")) children = family(service.pid);
    return children.length > 0;
  }, START_MS);
  service.kill("SIGTERM");
  assert.equal((await service.done).code, 130);
  await until(() => !children.some(alive), 5_000);
});

test("a port in use, or none at all, is one clear line", async (t) => {
  const { server, port } = await listen();
  t.after(() => server.close());
  const inUse = await script("start", [], { env: { PORT: String(port) } });
  assert.deepEqual({ ...inUse, problem: "" }, { code: 1, out: "", problem: "" });
  const [, used, free] =
    inUse.problem.match(
      /^stopped: port (\d+) is in use; end what uses it, or choose another, such as PORT=(\d+) npm start\n$/,
    ) ?? assert.fail(inUse.problem);
  assert.equal(Number(used), port);
  await once(createServer().listen(Number(free), "127.0.0.1").unref(), "listening"); // that one can be had
  for (const [PORT, problem] of [
    ["99999", "stopped: `99999` is not a port: set PORT to a number from 1 to 65535\n"],
    ["http", "stopped: `http` is not a port: set PORT to a number from 1 to 65535\n"],
  ]) {
    assert.deepEqual(await script("start", [], { env: { PORT } }), { code: 1, out: "", problem });
  }
});
