/** The demo shop as `npm start` serves it, and what a shopper does there. */
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before } from "node:test";
import { createTestHarness } from "wrangler";
import { seedData } from "../../scripts/lib/seed.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { tools } from "./chromium.mjs";

export const shop = { origin: "", keys: [] };

/**
 * Starts the shop before the tests of a file and ends it behind them.
 * @param {{serviceUrl?: () => string | Promise<string>}} [options]
 */
export function useShop({ serviceUrl = () => "" } = {}) {
  let harness;
  before(async () => {
    const vars = { PLEDGE_SERVICE_URL: await serviceUrl() };
    harness = createTestHarness({
      workers: [{ configPath: join(tools.root, "wrangler.dev.toml"), vars }],
    });
    const { url } = await harness.listen();
    const { PLEDGES } = await harness.getWorker().getEnv();
    const { keys, entries } = await seedData(tools);
    for (const { key, value } of entries) await PLEDGES.put(key, value);
    Object.assign(shop, { origin: url.origin, keys: keys.map(({ key }) => key) });
  });
  after(() => harness?.close());
}

/**
 * A service elsewhere that fails as often as it is set to, and then passes on what it was asked to the one beside the
 * shop. It keeps the requests.
 */
export class Flaky {
  failures = 0;
  requests = [];
  close = async () => {};

  /** @returns {Promise<string>} its address */
  async start() {
    const server = createServer((request, response) => this.#answer(request, response));
    const { origin, close } = await onLoopback(server);
    this.close = close;
    return origin;
  }

  async #answer(request, response) {
    const body = Buffer.concat(await request.toArray());
    this.requests.push({ key: request.headers["idempotency-key"], body: String(body) });
    if (this.failures > 0) {
      this.failures -= 1;
      return response
        .writeHead(503, { "content-type": "application/json" })
        .end('{"error":"Service unavailable","message":"Try again later."}');
    }
    const { host, connection, ...headers } = request.headers;
    const answer = await fetch(shop.origin + request.url, {
      method: request.method,
      headers,
      body,
    });
    response
      .writeHead(answer.status, { "content-type": answer.headers.get("content-type") })
      .end(Buffer.from(await answer.arrayBuffer()));
  }
}

/** Fills in an order that has nothing wrong. @param {import("playwright-core").Page} page */
export async function fillIn(page, { email = "ada@example.org", name = "Ada", trees = "3" } = {}) {
  await page.fill("#trees", trees);
  await page.fill("#email", email);
  await page.fill("#first-name", name);
}

export const send = (page) => page.click("button[type=submit]");

/** Waits for the timeline, where an order ends. */
export const arrived = (page) => page.waitForURL(/\/timeline\/ptran_\w+\?edit_key=/);
