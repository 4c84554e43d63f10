import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { PledgeClient, ValidationError } from "impact-pledge";
import { readForm } from "impact-pledge/form";
import { page } from "./page.js";

const { PLEDGE_API_KEY: apiKey, PLEDGE_BASE_URL: baseUrl, PORT = "3000" } = process.env;
const client = new PledgeClient({ apiKey, baseUrl, retryCreates: true });

const SORRY = "The pledge service did not record your order. Please try again.";

const routes = {
  "GET /": () => html(200, page()),
  "POST /orders": (request) =>
    request.headers["content-type"] === "application/json"
      ? orderOfScript(request)
      : orderOfForm(request),
};

/** JSON from a page's script. */
async function orderOfScript(request) {
  try {
    const { id, timelineUrl } = await client.createPledgeTransaction(
      JSON.parse(await text(request)),
    );
    return json(200, { id, timelineUrl });
  } catch (error) {
    if (error instanceof ValidationError)
      return json(422, { message: error.message, issues: error.issues });
    if (error instanceof SyntaxError) return json(400, { message: "This is not JSON." });
    console.error(error);
    return json(502, { message: SORRY });
  }
}

/** The form itself, posted by a browser without JavaScript. */
async function orderOfForm(request) {
  const values = new URLSearchParams(await text(request));
  const { valid, payload, issues } = readForm(values);
  if (!valid) return html(422, page({ values, issues }));
  try {
    const { timelineUrl } = await client.createPledgeTransaction(payload);
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

const server = createServer(async (request, response) => {
  const route =
    routes[`${request.method} ${request.url}`] ?? (() => json(404, { message: "Not found" }));
  const { status, headers, body } = await route(request);
  response.writeHead(status, headers).end(body);
});

server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
