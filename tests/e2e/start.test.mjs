/** Tests `npm start`, from its first line of output to the end of its last process. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import test from "node:test";
import { openKv } from "../../scripts/lib/kv.mjs";
import { refusesOtherHosts } from "../support/loopback.mjs";
import { testPort } from "../support/port.mjs";
import { until } from "../support/until.mjs";
import { run, scratch, start, tools } from "./script.mjs";

/**
 * Starts the service and waits for its whole greeting.
 * @param {import("node:test").TestContext} t
 */
async function running(t, { port, persistTo }) {
  const service = start("start", ["--persist-to", persistTo], { env: { PORT: String(port) } });
  t.after(() => service.kill("SIGTERM"));
  let end;
  service.done.then((how) => {
    end = how;
  });
  await until(() => end || service.out().includes("Press Ctrl-C to stop"));
  assert.ok(!end, `it ended with ${end?.code}: ${end?.problem}`);
  return service;
}

/** Returns all processes that a running process has started, directly or indirectly. @param {number} root */
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

/**
 * Stops the service with a signal. Checks that no process that the service started is still running
 * afterwards.
 */
async function ends(service, port, signal) {
  const children = family(service.pid);
  const { stdout } = spawnSync("ps", ["-o", "args=", "-p", children.join()], { encoding: "utf8" });
  assert.match(stdout, /workerd/);
  service.kill(signal);
  assert.equal((await service.done).code, 0);
  await until(() => !children.some(alive));
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
}

/** Runs the `curl` command that the service printed at its start, and returns its JSON response. */
function paste(service) {
  const [command] = service.out().match(/^curl -s [\s\S]*?\n\n/m);
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/**
 * Checks that the shop, the page for developers and the API are at the addresses that the service printed.
 */
async function showsWhatItNames(service, origin) {
  const rows = service.out().matchAll(/^ {2}(\w.*?) {2,}(?:POST |GET )?(http\S+)$/gm);
  const places = Object.fromEntries([...rows].map(([, name, url]) => [name, url]));
  const page = async (name) => (await fetch(places[name])).text();
  assert.deepEqual(places, {
    "the demo shop": `${origin}/`,
    "the shop's requests, e-mails and messages": `${origin}/developer`,
    "create a transaction": `${origin}/v2/pledge-transaction`,
    "read a transaction": `${origin}/v2/pledge-transaction/{id}`,
    "the dashboard": places["the dashboard"],
  });
  assert.ok(Number(new URL(places["the dashboard"]).port) > Number(new URL(origin).port));
  assert.match(await page("the dashboard"), /operator@small-hours\.example/);
  assert.match(await page("the demo shop"), /<form id="checkout"[\s\S]*The demo sends nothing/);
  assert.match(await page("the shop's requests, e-mails and messages"), /What just happened/);
  const placed = await fetch(`${origin}/shop/order`, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams({
      reference: "r",
      "recipient.email": "ada@example.org",
      "pledges.0.impact.amount": "2",
      "pledges.0.impact.offeringId": "tree",
      notifications: "Email",
    }),
  });
  const { timelineUrl } = await placed.json();
  assert.ok(timelineUrl.startsWith(`${origin}/timeline/ptran_`));
  const mails = async () => (await fetch(`${origin}/developer/mails`)).json();
  await until(async () => (await mails()).length === 1);
  const [{ subject, text }] = await mails();
  assert.equal(subject, "Small Hours Coffee has pledged 2 trees for you");
  assert.ok(text.includes(timelineUrl));
  await until(() => service.out().includes(`Subject:  ${subject}`));
  const dashboard = new URL(places["the dashboard"]).origin;
  await sendsAgain(dashboard, timelineUrl.match(/ptran_[a-z2-7]+/)[0]);
  await until(async () => (await mails()).length === 2);
  return dashboard;
}

/**
 * Resends an e-mail from the dashboard. This checks that the dashboard and the service share a queue,
 * although they are two processes.
 */
async function sendsAgain(dashboard, id) {
  const send = async (fields) => {
    const request = { method: "POST", headers: { origin: dashboard }, body: fields };
    const answer = await fetch(`${dashboard}/transactions/${id}/mail`, request);
    assert.equal(answer.status, 200);
    return answer.text();
  };
  const question = await send(new URLSearchParams());
  const hidden = question.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  await send(new URLSearchParams([...hidden].map(([, name, value]) => [name ?? "", value ?? ""])));
}

/** Checks that the ledger's tables were created before the two Workers started. */
async function hasTables(persistTo) {
  const kv = await openKv(tools, { persistTo });
  const sql = "SELECT json_quote(name) FROM d1_migrations WHERE name = ?1 ->> '$'";
  const name = JSON.stringify("0001_ledger.sql");
  assert.deepEqual(await kv.ledger.batch([{ sql, parameter: name }]), [[name]]);
  await kv.close();
}

test("the printed command creates a transaction, the keys read it, commands change the records, and all survive a restart", async (t) => {
  // Below the ports of outgoing connections: one of those could take the next port, which is the dashboard's.
  const [port, persistTo] = [await testPort(), scratch(t)];
  const origin = `http://127.0.0.1:${port}`;
  const status = async (id, key, unit) => {
    const headers = { authorization: `Bearer ${key}`, ...(unit && { "x-service-unit-id": unit }) };
    return (await fetch(`${origin}/v2/pledge-transaction/${id}`, { headers })).status;
  };
  const command = async (name, args, input) => {
    const { code, out, problem } = await run(name, [...args, "--persist-to", persistTo], { input });
    assert.equal(code, 0, problem);
    return out;
  };

  const first = await running(t, { port, persistTo });
  const { id, isLive, charge, timelineUrl } = paste(first);
  assert.equal(isLive, false);
  assert.deepEqual(charge, { amount: "1.50", currencyCode: "USD", paidAt: null });
  const timeline = await fetch(timelineUrl);
  assert.match(await timeline.text(), /Ada/);
  const dashboard = await showsWhatItNames(first, origin);
  for (const path of ["/", "/healthz", "/developer", "/developer/mails"])
    await refusesOtherHosts(origin, { path });
  for (const path of ["/", "/units/unit_dev"]) await refusesOtherHosts(dashboard, { path });

  const keys = first.out().matchAll(/^ {2}(service_sk_\w+) +(\w+)/gm);
  const seen = [...keys].map(async ([, key, whose]) => [
    key,
    await status(id, key, whose === "team_dev" && "unit_dev"),
  ]);
  assert.deepEqual(Object.fromEntries(await Promise.all(seen)), {
    service_sk_test_dev_unit: 200,
    service_sk_live_dev_unit: 404,
    service_sk_test_dev_unit_two: 404,
    service_sk_test_dev_team: 200,
    service_sk_live_dev_team: 404,
  });

  const made = await command("keys", ["create", "--mode", "test", "--unit", "unit_dev", "--json"]);
  const { key } = JSON.parse(made);
  assert.equal(await status(id, key), 200, "a new key works at once");
  const prices = '{"currencyCode":"EUR","unitPrices":{"tree":"2"}}';
  await command("prices", ["set", "-", "--mode", "test", "--yes"], prices);
  await ends(first, port, "SIGTERM");
  await hasTables(persistTo);

  const second = await running(t, { port, persistTo });
  assert.equal(await status(id, key), 200);
  assert.deepEqual(paste(second).charge, { amount: "6.00", currencyCode: "EUR", paidAt: null });
  await ends(second, port, "SIGINT");
});

test("stopping it before it serves leaves no process behind", async (t) => {
  const env = { PORT: String(await testPort()) };
  const service = start("start", ["--persist-to", scratch(t)], { env });
  let children = [];
  await until(() => {
    if (service.problem().includes("building the service")) children = family(service.pid);
    return children.length > 0;
  });
  service.kill("SIGTERM");
  assert.equal((await service.done).code, 130);
  await until(() => !children.some(alive));
});

test("a signal to npm, from a supervisor or a terminal, ends all its processes, even if it is sent twice", async (t) => {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    const args = ["start", "--silent", "--", "--persist-to", scratch(t)];
    const npm = spawn("npm", args, {
      cwd: tools.root,
      env: { ...tools.env, PORT: String(await testPort()) },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let problem = "";
    npm.stderr.setEncoding("utf8").on("data", (text) => (problem += text));
    let children = [];
    await until(() => {
      if (problem.includes("building the service")) children = family(npm.pid);
      return children.length > 2;
    });
    // A terminal sends Ctrl-C to the whole group, and npm alone ignores it. On SIGHUP npm exits, and leaves its shell running.
    const to = (signal === "SIGINT" ? -1 : 1) * Number(npm.pid);
    process.kill(to, signal);
    if (npm.exitCode === null) process.kill(to, signal);
    await until(() => !children.some(alive));
  }
});

test("a port that is in use or invalid causes one clear line", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address();
  const failed = async (PORT) => {
    const { code, out, problem } = await run("start", [], { env: { PORT } });
    assert.deepEqual([code, out], [1, ""]);
    return problem;
  };
  const [, used, free] = (await failed(String(port))).match(
    /^stopped: port (\d+) is in use: stop the program that uses it, or choose another port, such as PORT=(\d+) npm start\n$/,
  );
  assert.equal(Number(used), port);
  await once(createServer().listen(Number(free), "127.0.0.1").unref(), "listening"); // proves that the port is free
  for (const PORT of ["99999", "http"])
    assert.equal(
      await failed(PORT),
      `stopped: \`${PORT}\` is not a port: set PORT to a number from 1 to 65535\n`,
    );
});
