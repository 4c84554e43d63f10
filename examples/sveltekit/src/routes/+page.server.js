import { fail, redirect } from "@sveltejs/kit";
import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";

/** Made with the first order: while the app is built there is no key. */
let client;
const pledges = () => (client ??= new PledgeClient({ apiKey: process.env.PLEDGE_API_KEY, baseUrl: process.env.PLEDGE_SERVICE_URL, safeRepeats: true }));

/** What the shopper does not see in the form. */
const hidden = (name) => name === "reference" || name.endsWith(".offeringId");

export const actions = {
  /** The same rules as in the page, also for a page without JavaScript. The key stays here. */
  default: async ({ request }) => {
    const data = await request.formData();
    const values = Object.fromEntries(data);
    const { valid, payload, issues } = readForm(data, { hidden });
    if (!valid) return fail(422, { values, ...textsOf(issues) });
    const transaction = await pledges().createPledgeTransaction(payload).catch(report);
    if (!transaction) return fail(502, { values, message: "The pledge service did not record your order. Please try again." });
    redirect(303, transaction.timelineUrl, { external: true });
  },
};

/** At their fields, or in the message where there is none for them. */
function textsOf(issues) {
  const problems = Object.fromEntries(issues.filter(({ name }) => name !== null).map(({ name, message }) => [name, message]));
  const message = issues.filter(({ name }) => name === null).map(({ pointer, message }) => `${pointer} ${message}`).join(" ");
  return { problems, message };
}

function report(error) {
  console.error(error);
}
