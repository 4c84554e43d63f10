// Valid uses of the client compile, and wrong ones don't. Compiled as ESM and as CommonJS.
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PledgeClient,
  PledgeError,
  TimeoutError,
  ValidationError,
  responseOf,
  type CreatePledgeTransactionRequest,
  type CurrencyCode,
  type Issue,
  type NotificationType,
  type PledgeErrorCode,
  type PledgeTransaction,
  type RetrievedPledgeTransaction,
} from "impact-pledge";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};
type IsAny<T> = 0 extends 1 & T ? true : false;

const client = new PledgeClient({
  apiKey: "service_sk_test_x",
  baseUrl: "https://pledges.example.org",
});
new PledgeClient({
  apiKey: "service_sk_test_x",
  baseUrl: new URL("https://pledges.example.org"),
  unitId: "unit_1",
  timeoutMs: 5_000,
  maxRetries: 0,
  retryCreates: true,
  onRequest: ({ callId, requestHeaders: { traceparent } }) => [callId.length, traceparent],
  onResponse: ({ callId, responseHeaders: { date }, status }) => [callId, date, status],
  onError: ({ durationMs, error, reason }) => [
    durationMs,
    error instanceof Error,
    reason === "timeout",
  ],
  onRetry: ({ callId, waitMs }) => [callId, waitMs],
  dangerouslyAllowBrowser: false,
  dangerouslyAllowHttp: false,
  fetch,
});
new PledgeClient({ apiKey: "x", baseUrl: "x", unitId: undefined, fetch: { fetch } });
new PledgeClient({
  apiKey: "x",
  baseUrl: "x",
  fetch: async (url, { method, headers: { authorization } }) =>
    new Response(url + method + authorization),
});
// @ts-expect-error the key is required
new PledgeClient({ baseUrl: "https://pledges.example.org" });
// @ts-expect-error there is no such option
new PledgeClient({ apiKey: "x", baseUrl: "x", timeout: 5 });
// @ts-expect-error an amount of time is a number
new PledgeClient({ apiKey: "x", baseUrl: "x", timeoutMs: "5" });

const request: CreatePledgeTransactionRequest = {
  reference: "order-1",
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" }, detail: { nounSingular: "tree" } }],
  trigger: { date: "2026-01-31T12:00:00Z" },
  notifications: ["Email", "MessagingServiceA"],
};

/** A read-only request, such as the state of a store library or an object declared `as const`. */
const frozen = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" }, detail: { name: "Tree" } }],
  trigger: { phrase: "placed an order" },
  notifications: ["Email"],
} as const;
type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T;

export async function useFrozen(
  state: Frozen<CreatePledgeTransactionRequest>,
  notifications: readonly NotificationType[],
): Promise<void> {
  await client.createPledgeTransaction(frozen);
  await client.createPledgeTransaction(state);
  await client.createPledgeTransaction(
    Object.freeze({ ...request, pledges: Object.freeze([...request.pledges]), notifications }),
  );
  frozen satisfies CreatePledgeTransactionRequest;
  // @ts-expect-error no service beyond the contract, in a frozen list either
  await client.createPledgeTransaction({ ...frozen, notifications: ["Pigeon"] } as const);
  // @ts-expect-error what was handed over is nobody's to change
  request.pledges.push(...request.pledges);
}

export async function use(signal: AbortSignal, anything: unknown): Promise<void> {
  const created = await client.createPledgeTransaction(request, {
    unitId: "unit_1",
    signal,
    timeoutMs: 1,
    idempotencyKey: "k",
  });
  const retrieved = await client.getPledgeTransaction(created.id, { signal });
  same<typeof created, PledgeTransaction>();
  same<typeof retrieved, RetrievedPledgeTransaction>();
  same<IsAny<typeof created>, false>();
  same<typeof created.charge.amount, string>();
  same<typeof created.charge.currencyCode, CurrencyCode>();
  same<typeof created.charge.paidAt, string | null>();
  same<typeof created.recipient.firstName, string | null>();
  same<(typeof created.pledges)[number]["impact"]["amount"], number>();
  same<(typeof created.pledges)[number]["detail"]["image"], string | null>();
  same<(typeof retrieved.pledges)[number]["details"][number]["image"], string | null>();
  same<(typeof retrieved.pledges)[number]["recipient"]["email"], string>();
  // @ts-expect-error a service may leave it out
  retrieved.timelineUrl.length;
  // @ts-expect-error the create's member has the singular name
  created.pledges[0]?.details;
  // @ts-expect-error a get takes no idempotency key
  await client.getPledgeTransaction("ptran_1", { idempotencyKey: "k" });
  // @ts-expect-error an ID is a string
  await client.getPledgeTransaction(5);
  // @ts-expect-error a reference is required
  await client.createPledgeTransaction({ recipient: { email: "x" }, pledges: [] });
  await client.createPledgeTransaction({
    ...request,
    // @ts-expect-error no member beyond the contract
    extra: 1,
  } satisfies CreatePledgeTransactionRequest);
  // @ts-expect-error no service beyond the contract
  await client.createPledgeTransaction({ ...request, notifications: ["Pigeon"] });

  const info = responseOf(created);
  same<typeof info extends undefined ? true : false, false>();
  info?.headers.get("x-request-id");
  same<NonNullable<typeof info>["retries"], number>();

  if (anything instanceof ValidationError) same<typeof anything.issues, Issue[]>();
  if (anything instanceof ApiError) {
    same<typeof anything.status, number>();
    same<typeof anything.body, string>();
    same<typeof anything.requestId, string | undefined>();
  }
  if (anything instanceof AuthenticationError)
    same<typeof anything.code, "authentication_failed">();
  if (anything instanceof NotFoundError) same<typeof anything.code, "not_found">();
  if (anything instanceof ConnectionError)
    same<typeof anything.code, "connection_failed" | "timeout">();
  if (anything instanceof TimeoutError) same<typeof anything.code, "timeout">();
  if (anything instanceof PledgeError) {
    same<typeof anything.code, PledgeErrorCode>();
    same<IsAny<typeof anything.code>, false>();
    const asError: Error = anything;
    void asError;
  }
}

// Replacements for a client in a program's own tests, and errors, which only the package makes.
export const mock: PledgeClient = {
  with: () => mock,
  createPledgeTransaction: () => client.createPledgeTransaction(request),
  getPledgeTransaction: (id) => client.getPledgeTransaction(id),
};
// @ts-expect-error the package makes them
new PledgeError();
// @ts-expect-error the package makes them
new ApiError("api_error", "…");
