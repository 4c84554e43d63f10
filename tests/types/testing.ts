// Valid tests of a shop compile, and wrong ones don't. Compiled as ESM and as CommonJS.
import { PledgeClient, type RetrievedPledgeTransaction } from "impact-pledge";
import {
  createTestService,
  type RecordedRequest,
  type TestFault,
  type TestKey,
  type TestService,
} from "impact-pledge/testing";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

const keys: TestKey[] = [
  { key: "k", mode: "test", unitId: "u" },
  { key: "l", mode: "live", teamId: "t", unitIds: ["u"], label: "x" },
];
const catalogue = { currencyCode: "EUR", unitPrices: { tree: "0.50" } } as const;
const service: TestService = createTestService({
  keys,
  catalogue,
  now: new Date(0),
  seed: "a",
  allowedOrigins: ["https://shop.example"],
  publicOrigin: "https://a.example",
});
createTestService();
createTestService({ keys: undefined, now: "2026-01-31T12:00:00Z", seed: 1 });
new PledgeClient({ apiKey: "k", baseUrl: service.baseUrl, fetch: service.fetch });
globalThis.fetch = service.fetch;

const faults: TestFault[] = [
  { status: 503 },
  { operation: "get", times: Infinity, status: 429, headers: { "retry-after": "1" } },
  { fault: "lost answer" },
  { fault: "slow", delayMs: 5 },
];
for (const fault of faults) service.fail(fault);
const [transaction] = service.transactions();
if (transaction) {
  const got: RetrievedPledgeTransaction = transaction;
  same<typeof transaction.id, string>();
  same<typeof transaction.mode, "test" | "live">();
  got.reference;
}
same<ReturnType<typeof service.requests>[number]["status"], number | null>();
same<ReturnType<typeof service.requests>[number]["body"], unknown>();
const { advance, now, received, reset, restore } = service;
advance(now());
reset();
restore();
void service.fetch(new Request("https://pledge.test")).then((response) => response.status);

void received(1, { deadlineMs: 5 }).then((requests) => same<typeof requests, RecordedRequest[]>());
// @ts-expect-error how many?
void received();

// @ts-expect-error a key is a unit's or a team's
createTestService({ keys: [{ key: "k", mode: "test" }] });
// @ts-expect-error and not both
createTestService({ keys: [{ key: "k", mode: "test", unitId: "u", teamId: "t", unitIds: ["u"] }] });
// @ts-expect-error a price is text
createTestService({ catalogue: { currencyCode: "EUR", unitPrices: { tree: 0.5 } } });
// @ts-expect-error there is no such option
createTestService({ seeds: 1 });
// @ts-expect-error a fault has a status or a fault
service.fail({ times: 2 });
// @ts-expect-error and not both
service.fail({ status: 503, fault: "timeout" });
// @ts-expect-error how slow?
service.fail({ fault: "slow" });
// @ts-expect-error there is no such operation
service.fail({ operation: "delete", status: 503 });
