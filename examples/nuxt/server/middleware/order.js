import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";

/** Made with the first order: while the app is built there is no key. */
let client;
const pledges = () =>
  (client ??= new PledgeClient({
    apiKey: process.env.PLEDGE_API_KEY,
    baseUrl: process.env.PLEDGE_BASE_URL,
    retryCreates: true,
  }));

/** Whether the form can show an issue: its field is there, and not hidden. */
const isSeen = ({ name }) => name !== null && name !== "reference" && !name.endsWith(".offeringId");

/** The form as it was posted: a good order leads to the timeline, any other to the page, with what is wrong. */
export default defineEventHandler(async (event) => {
  if (event.method !== "POST" || event.path !== "/") return;
  const { status, timelineUrl, ...answer } = await placeOrder(toWebRequest(event));
  if (timelineUrl) return sendRedirect(event, timelineUrl, 303);
  setResponseStatus(event, status);
  event.context.answer = answer;
});

/** Takes a posted form, by the same rules as in the page, and records its pledge. The key stays here. */
async function placeOrder(request) {
  if (isOfAnotherSite(request.headers))
    return { status: 403, message: "Orders come from our own page." };
  const data = await bounded(request)
    .formData()
    .catch(() => null);
  if (!data) return { status: 400, message: "An order is a form of up to 64 KiB." };
  const values = Object.fromEntries(data);
  const { valid, payload, issues: found } = readForm(data);
  const issues = valid ? offerIssues(payload) : found;
  if (issues.length > 0)
    return {
      status: 422,
      values,
      issues,
      message: issues.every(isSeen)
        ? ""
        : report("Your order was not taken. Please reload the page.", issues),
    };
  try {
    const { timelineUrl } = await pledges().createPledgeTransaction(orderOf(payload));
    return { status: 303, timelineUrl };
  } catch (error) {
    const message = "The pledge service did not record your order. Please try again.";
    return { status: 502, values, message: report(message, error) };
  }
}

/** The problems of a valid order: this shop offers up to 100 whole trees, whatever a page sends. */
function offerIssues({ pledges: [{ impact }] }) {
  if (Number.isInteger(impact.amount) && impact.amount <= 100) return [];
  const path = ["pledges", 0, "impact", "amount"];
  return [{ path, name: path.join("."), message: "Choose 1 to 100 whole trees" }];
}

/** The shop's own order. Of what a page sends, it takes the number of trees and who they are for. */
const orderOf = ({ recipient, pledges: [{ impact }] }) => ({
  reference: "order-1001", // the number that your shop has for this shopper's order
  recipient,
  pledges: [{ impact: { amount: impact.amount, offeringId: "tree" } }],
});

/** A body of up to 64 KiB that arrives within 10 seconds. Any other cannot be read: what is too much is dropped. */
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

/** Whether a page of another site posts this: the shopper's session cookie may come along. */
function isOfAnotherSite(headers) {
  const site = headers.get("sec-fetch-site");
  if (site) return site !== "same-origin";
  const origin = headers.get("origin"); // browsers before 2023, or without https
  return origin !== null && !origin.endsWith(`//${headers.get("host")}`);
}

/** Logs the reason for the shop, and returns the message for the shopper. */
function report(message, reason) {
  console.error(message, reason);
  return message;
}
