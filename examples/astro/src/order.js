import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";

/** Created with the first order: there is no key while the site is built. */
let client;
const pledges = () =>
  (client ??= new PledgeClient({
    apiKey: process.env.PLEDGE_API_KEY,
    baseUrl: process.env.PLEDGE_BASE_URL,
    retryCreates: true,
  }));

/** Whether the form can show an issue: it has the field, and the field is not hidden. */
const isSeen = ({ name }) => name !== null && name !== "reference" && !name.endsWith(".offeringId");

/** Checks a posted form by the same rules as the page, and records its pledge. The key stays on the server. */
export async function placeOrder(request) {
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
    const message = "Your order could not be confirmed. Please contact us before you order again.";
    return { status: 502, values, message: report(message, error) };
  }
}

/** Returns the issues of a valid order that this shop does not offer: it offers up to 100 whole trees. */
function offerIssues({ pledges: [{ impact }] }) {
  if (Number.isInteger(impact.amount) && impact.amount <= 100) return [];
  const path = ["pledges", 0, "impact", "amount"];
  return [{ path, name: path.join("."), message: "Choose 1 to 100 whole trees" }];
}

/** Returns the shop's own order. It takes only the number of trees and the recipient from the page. */
const orderOf = ({ recipient, pledges: [{ impact }] }) => ({
  reference: "order-1001", // your shop's number of this order
  recipient,
  pledges: [{ impact: { amount: impact.amount, offeringId: "tree" } }],
});

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

/** Logs the reason for the shop, and returns the message for the shopper. */
function report(message, reason) {
  console.error(message, reason);
  return message;
}
