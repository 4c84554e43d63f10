import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { PledgeClient, ValidationError } from "impact-pledge";
import { readForm } from "impact-pledge/form";

const { PLEDGE_API_KEY: apiKey, PLEDGE_SERVICE_URL: baseUrl, PORT = "3000" } = process.env;
const client = new PledgeClient({ apiKey, baseUrl, safeRepeats: true });

/** An order as JSON, or from a form that was posted without JavaScript. */
async function readOrder(request) {
  const body = await text(request);
  if (request.headers["content-type"] === "application/json") return JSON.parse(body);
  const hidden = (name) => name === "reference" || name.endsWith(".offeringId");
  return readForm(new URLSearchParams(body), { hidden }).payload;
}

async function placeOrder(request) {
  try {
    const { id, timelineUrl } = await client.createPledgeTransaction(await readOrder(request));
    return { status: 200, answer: { id, timelineUrl } };
  } catch (error) {
    if (error instanceof ValidationError) return { status: 422, answer: { issues: error.issues } };
    if (error instanceof SyntaxError) return { status: 400, answer: { message: "This is no JSON." } };
    console.error(error);
    return { status: 502, answer: { message: "The pledge service did not record the order. Please try again." } };
  }
}

const server = createServer(async (request, response) => {
  const isOrder = request.method === "POST" && request.url === "/orders";
  const { status, answer } = isOrder ? await placeOrder(request) : { status: 404, answer: { message: "POST /orders" } };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
});

server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/orders`));
