/** `impact-pledge/testing` behind Node's server and Playwright's routes, in other environments, and its size. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { createTestHarness } from "wrangler";
import { FLAGS } from "../../scripts/lib/browser.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { REQUEST } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
const tools = await prepareTools({ browser: true });
const project = await packed();
const home = join(project.folder, "node_modules", "impact-pledge");
const { createTestService } = await project.load("impact-pledge/testing");
const { PledgeClient } = await project.load();

const KEY = "service_sk_test_dev_unit";
const post = (fetch, baseUrl) =>
  fetch(`${baseUrl}/v2/pledge-transaction`, {
    method: "POST",
    body: JSON.stringify(REQUEST),
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
  });

/** A server on a loopback port. @returns {Promise<string>} its origin */
async function listen(t, listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

// ---- Node ---------------------------------------------------------------------------------------------

test("a listener of Node's server: the client, with and without faults", async (t) => {
  const service = createTestService();
  const baseUrl = await listen(t, service.handler);
  const client = new PledgeClient({ apiKey: KEY, baseUrl, safeRepeats: true });
  const { id, timelineUrl } = await client.createPledgeTransaction(REQUEST);
  assert.ok(timelineUrl.startsWith(`${baseUrl}/timeline/`));
  assert.equal((await client.getPledgeTransaction(id)).reference, "order-1");
  service.fail({ fault: "lost answer" });
  await client.createPledgeTransaction(REQUEST);
  assert.deepEqual([service.transactions().length, service.requests().length], [2, 4]);
  service.fail({ fault: "timeout" });
  await assert.rejects(client.getPledgeTransaction(id, { timeoutMs: 50, maxRetries: 0 }), {
    name: "TimeoutError",
  });
  service.fail({ status: 503, times: 1 });
  await client.getPledgeTransaction(id);
  assert.deepEqual(
    service.requests().map(({ status }) => status),
    [200, 200, 200, 200, null, 503, 200],
  );
});

/** The answer on a connection to this text. */
async function exchange(baseUrl, text, { ends = true } = {}) {
  const socket = connect(new URL(baseUrl).port, "127.0.0.1");
  let answer = "";
  socket
    .setEncoding("latin1")
    .on("data", (data) => (answer += data))
    .on("error", () => {});
  socket.write(text);
  if (!ends) socket.destroySoon();
  await new Promise((resolve) => socket.on("close", resolve));
  return answer;
}

test("a listener of Node's server: what no client of ours sends", async (t) => {
  const service = createTestService();
  const baseUrl = await listen(t, service.handler);
  const head = (...lines) => `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`;
  const authorized = `Authorization: Bearer ${KEY}`;
  const statusOf = async (text) => Number((await exchange(baseUrl, text)).split(" ")[1]);
  assert.equal(await statusOf(head("GET //other.example/x HTTP/1.1", "Host: a.example")), 404);
  assert.equal(service.requests()[0].path, "//other.example/x");
  assert.equal(await statusOf(head("GET / HTTP/1.1", "Host: a b")), 400);
  assert.equal(
    await statusOf(
      head("GET /v2/pledge-transaction/x HTTP/1.1", "Host: a.example", authorized, authorized),
    ),
    401,
    "two keys are none",
  );
  assert.equal(
    await statusOf(
      `${head("POST /v2/pledge-transaction HTTP/1.1", "Host: a.example", authorized, "Content-Type: application/json", "Content-Length: 2000000")}`.concat(
        "x".repeat(2_000_000),
      ),
    ),
    413,
  );
  const endless = `${head("POST /v2/pledge-transaction HTTP/1.1", "Host: a.example", "Transfer-Encoding: chunked")}${`100000\r\n${"x".repeat(2 ** 20)}\r\n`.repeat(40)}`;
  assert.match(await exchange(baseUrl, endless), /^(HTTP\/1.1 401 |$)/); // it goes on sending, and may miss the answer
  await exchange(
    baseUrl,
    `${head("POST /v2/pledge-transaction HTTP/1.1", "Host: a.example", authorized, "Content-Type: application/json", "Content-Length: 100")}{`,
    { ends: false },
  );
  assert.equal((await post(fetch, baseUrl)).status, 200, "and it goes on");
  assert.equal(service.transactions().length, 1);
});

// ---- Playwright, and a page ---------------------------------------------------------------------------

async function newPage(t) {
  const browser = await chromium.launch({ executablePath: tools.browser, args: FLAGS });
  t.after(() => browser.close());
  return browser.newPage();
}

const file = (path, type = "text/javascript") => [type, readFileSync(join(home, path), "utf8")];

/**
 * A site of a page without content and the package's files, with a policy that allows wasm and no
 * eval.
 */
const site = (t) =>
  listen(t, (request, response) => {
    const [type, body] = { "/index.js": file("index.js"), "/testing.js": file("testing.js") }[
      request.url
    ] ?? ["text/html", "<!doctype html><title>x</title>"];
    response
      .writeHead(200, {
        "content-type": type,
        "content-security-policy": "script-src 'self' 'wasm-unsafe-eval'",
      })
      .end(body);
  });

/** The README's example of a route. */
const AsyncFunction = (async () => {}).constructor;
const [example] = readFileSync(join(home, "README.md"), "utf8").match(
  /^await page\.route\([\s\S]*?^\}\);$/m,
);
const route = new AsyncFunction("page", "service", example);

test("a route of Playwright's: a page of Chromium calls the service in the test", async (t) => {
  const [page, origin] = [await newPage(t), await site(t)];
  const service = createTestService({ allowedOrigins: [origin] });
  await route(page, service);
  await page.goto(origin);
  const shop = async ([apiKey, baseUrl, request]) => {
    const { PledgeClient } = await import("/index.js");
    const client = new PledgeClient({ apiKey, baseUrl, safeRepeats: true, timeoutMs: 500 });
    const { id } = await client
      .createPledgeTransaction(request)
      .catch((error) => ({ id: error.name }));
    return [
      id,
      await client.getPledgeTransaction(id).then(
        ({ reference }) => reference,
        (error) => error.name,
      ),
    ];
  };
  const given = [KEY, service.baseUrl, REQUEST];
  service.fail({ operation: "create", fault: "lost answer" });
  const [id, reference] = await page.evaluate(shop, given);
  assert.deepEqual([id, reference], [service.transactions()[0].id, "order-1"]);
  assert.equal(service.transactions().length, 1);
  service.fail({ fault: "timeout", times: 6 });
  assert.deepEqual(await page.evaluate(shop, given), ["TimeoutError", "TimeoutError"]);
  service.restore();
  service.fail({ operation: "get", status: 503, times: 3 });
  assert.equal((await page.evaluate(shop, given))[1], "ApiError");
  await page.goto(service.transactions()[0].timelineUrl);
  assert.match(await page.textContent("body"), /Ada/);
});

test("the service in a page of Chromium itself", async (t) => {
  const page = await newPage(t);
  await page.goto(await site(t));
  const result = await page.evaluate(
    async ([apiKey, request]) => {
      const [{ PledgeClient }, { createTestService }] = [
        await import("/index.js"),
        await import("/testing.js"),
      ];
      const service = createTestService({ seed: 1 });
      const client = new PledgeClient({
        apiKey,
        baseUrl: service.baseUrl,
        fetch: service.fetch,
        safeRepeats: true,
      });
      service.fail({ fault: "lost answer" });
      const { id } = await client.createPledgeTransaction(request);
      return [
        (await client.getPledgeTransaction(id)).reference,
        service.transactions().length,
        service.requests().length,
      ];
    },
    [KEY, REQUEST],
  );
  assert.deepEqual(result, ["order-1", 1, 3]);
});

// ---- Other environments -------------------------------------------------------------------------------

test("workerd: a Worker's test service, made at the top of its module", async (t) => {
  const folder = join(project.folder, "testing-worker");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "index.mjs"),
    `import { createTestService } from "impact-pledge/testing";
import { PledgeClient } from "impact-pledge";
const service = createTestService({ seed: 1 });
const client = new PledgeClient({ apiKey: "${KEY}", baseUrl: service.baseUrl, fetch: service.fetch, safeRepeats: true });
export default { async fetch() {
  service.fail({ fault: "lost answer" });
  const { id } = await client.createPledgeTransaction(${JSON.stringify(REQUEST)});
  const { reference } = await client.getPledgeTransaction(id);
  return Response.json([reference, service.transactions().length, service.requests().length]);
} };\n`,
  );
  const configPath = join(folder, "wrangler.json");
  writeFileSync(
    configPath,
    JSON.stringify({ name: "testing", main: "index.mjs", compatibility_date: "2026-10-01" }),
  );
  const harness = createTestHarness({ workers: [{ configPath }] });
  t.after(() => harness.close());
  const { url } = await harness.listen();
  assert.deepEqual(await (await fetch(url)).json(), ["order-1", 1, 3]);
  assert.deepEqual(await (await fetch(url)).json(), ["order-1", 2, 6]);
});

/** As Jest runs tests under jsdom: globals of a realm of their own, without `fetch` and the coders of text. */
test("testing.cjs where Request, Response and the coders are missing", async () => {
  const load = (entry) => {
    const exports = {},
      module = { exports };
    const globals = createContext({
      process,
      module,
      exports,
      URL,
      URLSearchParams,
      AbortController,
      setTimeout,
      clearTimeout,
      crypto,
    });
    assert.equal(
      runInContext(
        "[typeof Request, typeof Response, typeof Headers, typeof TextEncoder].join()",
        globals,
      ),
      "undefined,undefined,undefined,undefined",
    );
    runInContext(readFileSync(join(home, `${entry}.cjs`), "utf8"), globals);
    return globals.module.exports;
  };
  const service = load("testing").createTestService({ seed: 1 });
  const client = new PledgeClient({ apiKey: KEY, baseUrl: service.baseUrl, fetch: service.fetch });
  const { id } = await client.createPledgeTransaction(REQUEST);
  assert.equal(id, "ptran_f74hxzdglvtizih7el4vh3fn6yziyea6iqpufimxje");
  assert.equal((await client.getPledgeTransaction(id)).reference, "order-1");
  await assert.rejects(client.getPledgeTransaction("ptran_1"), { status: 404 });
  assert.equal(service.requests().length, 3);
});

test("it is at most 180,000 bytes, minified and compressed, and in no other entry", async (t) => {
  const sizeOf = async (contents) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: project.folder },
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
      logLevel: "error",
    });
    return brotliCompressSync(outputFiles[0].contents).length;
  };
  const size = await sizeOf('export * from "impact-pledge/testing";');
  t.diagnostic(`${size} bytes`);
  assert.ok(size <= 180_000 && size > 165_000, `${size} bytes`);
  for (const entry of ["index", "validate", "form"])
    assert.ok(
      !readFileSync(join(home, `${entry}.js`), "utf8").includes("createTestService"),
      entry,
    );
});
