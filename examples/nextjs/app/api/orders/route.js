import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";
import { safeParse } from "impact-pledge/validate";

/** Created with the first order: there is no key while the app is built. */
let client;
const pledges = () =>
  (client ??= new PledgeClient({
    apiKey: process.env.PLEDGE_API_KEY,
    baseUrl: process.env.PLEDGE_BASE_URL,
    retryCreates: true,
  }));

/** Records the pledge of an order: JSON from the page's script, or a form that a browser posts. The key stays on the server. */
export async function POST(request) {
  if (isOfAnotherSite(request.headers)) return refusal(403, "Orders come from our own page.");
  const isScript = request.headers.get("content-type") === "application/json";
  const body = bounded(request);
  const posted = await (isScript ? body.json() : body.formData()).catch(() => undefined);
  if (posted === undefined) return refusal(400, "An order is JSON or a form, of up to 64 KiB.");
  const { order, issues } = isScript ? ofScript(posted) : ofForm(posted);
  if (issues.length > 0) return refusal(422, "The order has problems.", issues);
  try {
    const { id, timelineUrl } = await pledges().createPledgeTransaction(order);
    return isScript ? Response.json({ id, timelineUrl }) : Response.redirect(timelineUrl, 303);
  } catch (error) {
    console.error(error);
    return refusal(
      502,
      "Your order could not be confirmed. Please contact us before you order again.",
    );
  }
}

const refusal = (status, message, issues) => Response.json({ message, issues }, { status });

function ofScript(value) {
  const { data, issues } = safeParse(value);
  return issues ? { issues } : offered(data);
}

function ofForm(data) {
  const { valid, payload, issues } = readForm(data);
  return valid ? offered(payload) : { issues };
}

/** Returns the shop's own order. It takes only the recipient and up to 100 whole trees from the page. */
function offered({ recipient, pledges: [{ impact }] }) {
  const { amount } = impact;
  if (!Number.isInteger(amount) || amount > 100) {
    const path = ["pledges", 0, "impact", "amount"];
    return { issues: [{ path, name: path.join("."), message: "Choose 1 to 100 whole trees" }] };
  }
  const reference = "order-1001"; // your shop's number of this order
  const order = { reference, recipient, pledges: [{ impact: { amount, offeringId: "tree" } }] };
  return { order, issues: [] };
}

/** Whether a page of another site posts this, perhaps with the shopper's session cookie. */
function isOfAnotherSite(headers) {
  const site = headers.get("sec-fetch-site");
  if (site) return site !== "same-origin";
  const origin = headers.get("origin"); // browsers before 2023, or without https
  return origin !== null && !origin.endsWith(`//${headers.get("host")}`);
}

/** Returns a body that can be read if it has up to 64 KiB and arrives within 10 seconds. Bytes beyond that are dropped. */
function bounded({ headers, body }) {
  let length = 0;
  const counted = new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      if (length <= 65_536) controller.enqueue(chunk);
    },
    flush(controller) {
      if (length > 65_536) controller.error(new RangeError("the body is too large"));
    },
  });
  const signal = AbortSignal.timeout(10_000);
  return new Response(body?.pipeThrough(counted, { signal }), { headers });
}
