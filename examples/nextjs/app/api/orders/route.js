import { ApiError, PledgeClient, ValidationError } from "impact-pledge";

const client = () => new PledgeClient({ apiKey: process.env.PLEDGE_API_KEY, baseUrl: process.env.PLEDGE_SERVICE_URL, safeRepeats: true });

/** Records the pledge of an order. The key stays here. */
export async function POST(request) {
  const order = await request.json().catch(() => null);
  try {
    const { id, timelineUrl } = await client().createPledgeTransaction(order, { signal: request.signal });
    return Response.json({ id, timelineUrl });
  } catch (error) {
    if (error instanceof ValidationError) return Response.json({ message: error.message, issues: error.issues }, { status: 422 });
    console.error(error);
    const message = error instanceof ApiError ? "The pledge service refused the order." : "The pledge service can’t be reached. Please try again.";
    return Response.json({ message }, { status: 502 });
  }
}
