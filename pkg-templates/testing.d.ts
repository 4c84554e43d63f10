import type { CurrencyCode, RetrievedPledgeTransaction } from "./index.js";

/** An API key that a test service knows: of a unit, or of a team with its units. */
export type TestKey = {
  /** Its text, such as `service_sk_test_shop`. */ key: string;
  mode: "test" | "live";
  /** What `requests()` shows in its place. */ label?: string | undefined;
} & (
  | { /** The unit that it acts as. */ unitId: string; teamId?: undefined; unitIds?: undefined }
  | { teamId: string; /** The units that it may act for. */ unitIds: readonly string[]; unitId?: undefined }
);

/** The prices of offerings. */
export interface TestCatalogue {
  currencyCode: CurrencyCode;
  /** By offering: plain decimals in quotes, such as `{ tree: "0.50" }`. An offering that is not listed costs nothing. */
  unitPrices: Readonly<Record<string, string>>;
}

export interface TestServiceOptions {
  /** The keys it knows; without it those of local development, such as `service_sk_test_dev_unit`. */
  keys?: readonly TestKey[] | undefined;
  /** Its prices; without it a `tree` costs 0.50 USD, a `plastic-kg` 1.25. */
  catalogue?: TestCatalogue | undefined;
  /** The time at which its clock stands still: a Date, milliseconds since 1970, or ISO text. Without it the real time runs. */
  now?: Date | number | string | undefined;
  /** With a seed, ids and edit keys are the same on each run. */
  seed?: number | string | undefined;
  /** The origins whose pages may call it, such as `["http://localhost:3000"]`. */
  allowedOrigins?: readonly string[] | undefined;
  /** What timeline addresses begin with; without it the origin of the request. */
  publicOrigin?: string | undefined;
}

/** Which of the next requests fail. */
interface Failing {
  /** Only requests of this operation; without it any. */
  operation?: "create" | "get" | "timeline" | undefined;
  /** How many requests (1); `Infinity` until `restore()`. */
  times?: number | undefined;
}

/**
 * How requests fail: with a `status`, or with a `fault`:
 *
 * - `"timeout"`: no answer until the caller gives up; nothing is recorded.
 * - `"lost answer"`: it is served and recorded, then the connection breaks before the answer.
 * - `"lost write"`: a create is not recorded, and answered with the 503 of a write that was not confirmed.
 * - `"slow"`: it is served and recorded at once, and answered `delayMs` later by the service's clock.
 */
export type TestFault = Failing &
  (
    | { /** 400 to 599. With 401, 404 and 503 it answers as the service does, else with a plain body of JSON. */ status: number; /** More headers of the answer. */ headers?: Readonly<Record<string, string>> | undefined; fault?: undefined; delayMs?: undefined }
    | { fault: "timeout" | "lost answer" | "lost write"; status?: undefined; headers?: undefined; delayMs?: undefined }
    | { fault: "slow"; delayMs: number; status?: undefined; headers?: undefined }
  );

/** A transaction as a get answers it, and whose it is. */
export interface RecordedTransaction extends RetrievedPledgeTransaction {
  id: string;
  unitId: string;
  mode: "test" | "live";
}

/** A request that came. */
export interface RecordedRequest {
  method: string;
  /** With its query. */ path: string;
  /** By lower-case names; a key is shown as its label, or as `[API key]`. */ headers: Record<string, string>;
  /** The value of JSON, or text; undefined where there is none, or where the service did not read it. */ body: unknown;
  /** Of the answer; null while there is none. */ status: number | null;
}

/** What is used of Node's `IncomingMessage`. */
interface NodeRequest extends AsyncIterable<unknown> {
  method?: string | undefined;
  url?: string | undefined;
  rawHeaders: string[];
}
/** What is used of Node's `ServerResponse`. */
interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: Uint8Array): unknown;
  destroy(): unknown;
}
/** What is used of Playwright's `Route`. */
interface PlaywrightRoute {
  request(): { method(): string; url(): string; allHeaders(): Promise<Record<string, string>>; postDataBuffer(): Uint8Array | null };
  fulfill(answer: object): Promise<void>;
  abort(errorCode?: string): Promise<void>;
}

/** The service in the process of a test. None of its functions needs `this`. */
export interface TestService {
  /** An address for `PledgeClient`; `fetch` answers any other just the same. */
  readonly baseUrl: string;
  /**
   * A `fetch` that the service answers, for `PledgeClient` and everybody else.
   *
   * @example
   * ```js
   * import { createTestService } from "impact-pledge/testing";
   *
   * const { fetch, baseUrl } = createTestService();
   * console.log((await fetch(`${baseUrl}/v2/pledge-transaction/ptran_1`)).status); // 401
   * ```
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /**
   * A listener for `http.createServer` of Node.
   *
   * @example
   * ```js
   * import { createServer } from "node:http";
   * import { createTestService } from "impact-pledge/testing";
   *
   * const server = createServer(createTestService().handler).listen(0, "127.0.0.1");
   * await new Promise((listening) => server.once("listening", listening));
   * console.log((await fetch(`http://127.0.0.1:${server.address().port}/timeline`)).status); // 404
   * server.close();
   * ```
   */
  readonly handler: (request: NodeRequest, response: NodeResponse) => void;
  /** For Playwright: ``await page.route(`${service.baseUrl}/**`, service.route)``. The page's origin has to be one of `allowedOrigins`. */
  readonly route: (route: PlaywrightRoute) => Promise<void>;
  /** For Mock Service Worker: ``http.all(`${service.baseUrl}/*`, service.msw)``. */
  readonly msw: (info: { request: Request }) => Promise<Response>;
  /** The time of its clock, in milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Moves its clock, whether that stands still or runs, and ends the waits that are over then.
   *
   * @example
   * ```js
   * import { createTestService } from "impact-pledge/testing";
   *
   * const service = createTestService({ now: "2026-01-31T12:00:00Z" });
   * service.advance(60_000);
   * console.log(new Date(service.now()).toISOString()); // 2026-01-31T12:01:00.000Z
   * ```
   */
  readonly advance: (ms: number) => void;
  /**
   * Makes the next requests fail. Of several faults, each request takes the first that fits.
   *
   * @example
   * ```js
   * import { PledgeClient } from "impact-pledge";
   * import { createTestService } from "impact-pledge/testing";
   *
   * const service = createTestService();
   * const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: service.baseUrl, fetch: service.fetch, safeRepeats: true });
   * service.fail({ operation: "create", fault: "lost answer" });
   * const { id } = await client.createPledgeTransaction(payload);
   * console.log(service.requests().length, service.transactions().length); // 2 1
   * ```
   */
  readonly fail: (fault: TestFault) => void;
  /** Ends all faults. A request that already waits is not answered. */
  readonly restore: () => void;
  /** What is recorded, the oldest first: copies. */
  readonly transactions: () => RecordedTransaction[];
  /** The last 1,000 requests, the oldest first, or fewer with long bodies: copies. */
  readonly requests: () => RecordedRequest[];
  /** Makes the service as it was created: no transactions, requests and faults, its clock and ids from the beginning. */
  readonly reset: () => void;
}

/**
 * Starts the real service, compiled, in this process: without network, in memory, and with a clock and randomness of its
 * own. Two of them share nothing.
 *
 * @example
 * ```js
 * import { PledgeClient } from "impact-pledge";
 * import { createTestService } from "impact-pledge/testing";
 *
 * const service = createTestService({ seed: 1, now: "2026-01-31T12:00:00Z" });
 * const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: service.baseUrl, fetch: service.fetch });
 * const { id, charge } = await client.createPledgeTransaction(payload);
 * console.log(id, charge.amount); // ptran_f74hxzdglvtizih7el4vh3fn6yziyea6iqpufimxje 0.50
 * ```
 *
 * @throws an error of code `invalid_argument` that names the option that is wrong
 */
export declare function createTestService(options?: TestServiceOptions): TestService;
