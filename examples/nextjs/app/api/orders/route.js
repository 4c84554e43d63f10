import { PledgeClient, ValidationError } from "impact-pledge";

/** Made with the first order: while the app is built there is no key. */
let client;
const pledges = () =>
  (client ??= new PledgeClient({
    apiKey: process.env.PLEDGE_API_KEY,
    baseUrl: process.env.PLEDGE_BASE_URL,
    retryCreates: true,
  }));

/** Records the pledge of an order. The key stays here. */
export async function POST(request) {
  try {
    const { id, timelineUrl } = await pledges().createPledgeTransaction(await request.json());
    return Response.json({ id, timelineUrl });
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
