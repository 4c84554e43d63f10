/** Serves the demo shop as `npm start` does, and acts as a shopper. */
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before } from "node:test";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { seedData } from "../../scripts/lib/seed.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { tools } from "./chromium.mjs";

const { createTestHarness } = wrangler();

// Otherwise miniflare asks Cloudflare for the values of `request.cf`.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";

/**
 * State that the tests share. `failures`: how many of the next requests to the pledge service must fail.
 * `requests`: all requests to the pledge service so far.
 */
export const shop = {
  origin: "",
  /** @type {string[]} */
  keys: [],
  failures: 0,
  /** @type {{key: string, body: string}[]} */
  requests: [],
};

/** Starts the shop before the tests of a file, and stops it after them. */
export function useShop() {
  let harness, service;
  before(async () => {
    service = await onLoopback(createServer(answer));
    harness = createTestHarness({
      workers: [
        {
          configPath: join(tools.root, "www", "wrangler.dev.toml"),
          vars: { PLEDGE_SERVICE_URL: service.origin, MAIL_DELAY_SECONDS: "1" },
        },
      ],
    });
    const { url } = await harness.listen();
    const { PLEDGES } = await harness.getWorker().getEnv();
    const { keys, entries } = await seedData(tools);
    for (const { key, value } of entries) await PLEDGES.put(key, value);
    Object.assign(shop, { origin: url.origin, keys: keys.map(({ key }) => key) });
  });
  after(() => harness?.close());
  after(() => service?.close());
}

/** Headers of a failure after which the client retries at once, so that no test has to wait. */
const UNAVAILABLE = { "content-type": "application/json", "retry-after": "0" };

/** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
async function answer(request, response) {
  const { method, url, headers } = request;
  const body = Buffer.concat(await request.toArray());
  shop.requests.push({ key: `${headers["idempotency-key"]}`, body: String(body) });
  if (shop.failures > 0) {
    shop.failures -= 1;
    response.writeHead(503, UNAVAILABLE).end('{"error":"Service unavailable"}');
    return;
  }
  const { host, connection, ...others } = headers;
  const passed = /** @type {Record<string, string>} */ (others);
  const answer = await fetch(shop.origin + url, { method, headers: passed, body });
  response
    .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
    .end(Buffer.from(await answer.arrayBuffer()));
}

/**
 * Fills in a valid order. With an empty `email`, the e-mail field stays empty.
 * @param {import("playwright-core").Page} page
 */
export async function fillIn(page, { email = "ada@example.org", name = "Ada", trees = "3" } = {}) {
  await page.fill("#trees", trees);
  if (email) await page.fill("#email", email);
  await page.fill("#first-name", name);
}

export const send = (page) => page.click("button[type=submit]");

/** Waits for the timeline, the last page of an order. */
export const atTimeline = (page) => page.waitForURL(/\/timeline\/ptran_\w+\?edit_key=/);

/** Follows the link of the thank-you page to the timeline. */
export async function arrived(page) {
  await page.click("[data-timeline]");
  await atTimeline(page);
}
