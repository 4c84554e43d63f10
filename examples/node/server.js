import { createServer } from "node:http";
import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";
import { safeParse } from "impact-pledge/validate";
import { offerIssues, orderOf } from "./offer.js";
import { page } from "./page.js";

const { PLEDGE_API_KEY: apiKey, PLEDGE_BASE_URL: baseUrl, PORT = "3000" } = process.env;
const client = new PledgeClient({ apiKey, baseUrl, retryCreates: true });

const MAX_BYTES = 65_536;
const SORRY = "Your order could not be confirmed. Please contact us before you order again.";

const routes = {
  "GET /": async () => html(200, page()),
  "POST /orders": async (request) => {
    if (isOfAnotherSite(request)) return json(403, { message: "Orders come from our own page." });
    const body = await bodyOf(request);
    if (body === null) return json(413, { message: "This is too much for one order." });
    const isScript = request.headers["content-type"] === "application/json";
    return isScript ? orderOfScript(body) : orderOfForm(body);
  },
};

/** Whether a page of another site posts this, perhaps with the shopper's session cookie. */
function isOfAnotherSite({ headers: { origin, host, "sec-fetch-site": site } }) {
  if (site) return site !== "same-origin";
  return origin !== undefined && !origin.endsWith(`//${host}`); // browsers before 2023, or without https
}

/** Returns the body; `null` if it is too large. */
async function bodyOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BYTES) chunks.push(chunk);
  }
  return length > MAX_BYTES ? null : String(Buffer.concat(chunks));
}

/** Answers an order that a page's script sends as JSON. */
async function orderOfScript(body) {
  try {
    const { data, issues: found } = safeParse(JSON.parse(body));
    const issues = found ?? offerIssues(data);
    if (issues.length > 0) return json(422, { message: "The order has problems.", issues });
    const { id, timelineUrl } = await client.createPledgeTransaction(orderOf(data));
    return json(200, { id, timelineUrl });
  } catch (error) {
    if (error instanceof SyntaxError) return json(400, { message: "This is not JSON." });
    console.error(error);
    return json(502, { message: SORRY });
  }
}

/** Answers a form that a browser without JavaScript posts. */
async function orderOfForm(body) {
  const values = new URLSearchParams(body);
  const { valid, payload, issues: found } = readForm(values);
  const issues = valid ? offerIssues(payload) : found;
  if (issues.length > 0) return html(422, page({ values, issues }));
  try {
    const { timelineUrl } = await client.createPledgeTransaction(orderOf(payload));
    return { status: 303, headers: { location: timelineUrl } };
  } catch (error) {
    console.error(error);
    return html(502, page({ values, message: SORRY }));
  }
}

const html = (status, body) => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body,
});
const json = (status, value) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

const times = { requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };

const server = createServer(times, async (request, response) => {
  const route =
    routes[`${request.method} ${request.url}`] ?? (async () => json(404, { message: "Not found" }));
  const { status, headers, body } = await route(request).catch((error) => {
    console.error(error); // such as an aborted body
    return json(500, { message: SORRY });
  });
  response.writeHead(status, headers).end(body);
});

server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
