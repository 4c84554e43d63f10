import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";

/** Made with the first order: while the site is built there is no key. */
let client;
const pledges = () =>
  (client ??= new PledgeClient({
    apiKey: process.env.PLEDGE_API_KEY,
    baseUrl: process.env.PLEDGE_BASE_URL,
    retryCreates: true,
  }));

/** Whether the form can show an issue: its field is there, and not hidden. */
const isSeen = ({ name }) => name !== null && name !== "reference" && !name.endsWith(".offeringId");

/** Records the pledge of a posted form, by the same rules as in the page. The key stays here. */
export async function placeOrder(data) {
  const { valid, payload, issues } = readForm(data);
  if (!valid)
    return {
      status: 422,
      issues,
      message: issues.every(isSeen)
        ? ""
        : report("Your order was not taken. Please reload the page.", issues),
    };
  try {
    const { timelineUrl } = await pledges().createPledgeTransaction(payload);
    return { status: 303, timelineUrl };
  } catch (error) {
    return {
      status: 502,
      message: report("The pledge service did not record your order. Please try again.", error),
    };
  }
}

/** Logs the reason for the shop, and returns the message for the shopper. */
function report(message, reason) {
  console.error(message, reason);
  return message;
}
