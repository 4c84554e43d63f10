import { PledgeClient, ValidationError } from "impact-pledge";
import { readForm } from "impact-pledge/form";

/** Made with the first order: while the app is built there is no key. */
let client;
const pledges = () =>
  (client ??= new PledgeClient({
    apiKey: process.env.PLEDGE_API_KEY,
    baseUrl: process.env.PLEDGE_BASE_URL,
    retryCreates: true,
  }));

/** Records the pledge of an order: JSON of the page's script, or the form as a browser posts it. The key stays here. */
export async function POST(request) {
  const isScript = request.headers.get("content-type") === "application/json";
  try {
    const order = isScript ? await request.json() : orderOf(await request.formData());
    const { id, timelineUrl } = await pledges().createPledgeTransaction(order);
    return isScript ? Response.json({ id, timelineUrl }) : Response.redirect(timelineUrl, 303);
  } catch (error) {
    if (error instanceof ValidationError)
      return Response.json({ message: error.message, issues: error.issues }, { status: 422 });
    if (error instanceof SyntaxError)
      return Response.json({ message: "This is not JSON." }, { status: 400 });
    console.error(error);
    return Response.json(
      { message: "The pledge service did not record your order. Please try again." },
      { status: 502 },
    );
  }
}

function orderOf(data) {
  const { payload, issues } = readForm(data);
  if (issues.length > 0) throw new ValidationError(issues);
  return payload;
}
