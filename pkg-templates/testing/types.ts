/* The public types of `impact-pledge/testing`. */
import type { CurrencyCode, NotificationType, RetrievedPledgeTransaction } from "../index.ts";

/** An API key of a test service (§5): a unit-level key, or a team-level key with its units. */
export type TestKey = {
  /** The text of the key, such as `service_sk_test_shop`. */
  key: string;
  mode: "test" | "live";
  /** The text that `requests()` shows instead of the key. Default: `[API key]`. */
  label?: string | undefined;
} & (
  | {
      /** The ID of the unit that the key acts for. */
      unitId: string;
      teamId?: undefined;
      unitIds?: undefined;
    }
  | {
      teamId: string;
      /** The IDs of the units that the team's keys may act for. */
      unitIds: readonly string[];
      unitId?: undefined;
    }
);

/** A price list. */
export interface TestCatalogue {
  currencyCode: CurrencyCode;
  /** Prices by offering ID: decimals as text, such as `{ tree: "0.50" }`. Other offerings are charged 0.00. */
  unitPrices: Readonly<Record<string, string>>;
}

/** The options of a test service. */
export interface TestServiceOptions {
  /** The API keys. Default: those of local development, such as `service_sk_test_dev_unit`. */
  keys?: readonly TestKey[] | undefined;
  /** The price list. Default: a `tree` costs 0.50 USD, a `plastic-kg` 1.25 USD. */
  catalogue?: TestCatalogue | undefined;
  /** The time at which the clock stands still: a Date, milliseconds since 1970, or ISO text. Default: real time. */
  now?: Date | number | string | undefined;
  /** A seed that makes IDs and edit keys the same in each run. Default: random. */
  seed?: number | string | undefined;
  /** The origins whose pages may call the service (CORS), such as `["http://localhost:3000"]`. Default: none. */
  allowedOrigins?: readonly string[] | undefined;
  /** The origin of timeline URLs. Default: the origin of the request. */
  publicOrigin?: string | undefined;
}

/** Selects the requests that fail. */
interface Failing {
  /** The operation whose requests fail. Default: all operations. */
  operation?: "create" | "get" | "timeline" | undefined;
  /** The number of requests that fail; `Infinity` for all until `restore()`. Default: 1. */
  times?: number | undefined;
}

/**
 * How requests fail, by a `status` or a `fault`:
 *
 * - `"timeout"`: there is no response, and nothing is recorded.
 * - `"lost answer"`: the request is served and recorded, but the connection breaks before the response.
 * - `"lost write"`: a create is not recorded. The response is a 503 that leaves open whether the write was
 *   stored.
 * - `"slow"`: the request is recorded immediately. The response is sent `delayMs` milliseconds later, by the
 *   service's clock.
 */
export type TestFault = Failing &
  (
    | {
        /**
         * The status of the response, 400 to 599. For 401, 404 and 503, the body is that of the real service.
         * For any other status, it is a generic JSON error.
         */
        status: number;
        /** Additional headers of the response. */
        headers?: Readonly<Record<string, string>> | undefined;
        fault?: undefined;
        delayMs?: undefined;
      }
    | {
        fault: "timeout" | "lost answer" | "lost write";
        status?: undefined;
        headers?: undefined;
        delayMs?: undefined;
      }
    | { fault: "slow"; delayMs: number; status?: undefined; headers?: undefined }
  );

/** A recorded transaction: the response to a get request (§4.2), with its ID, unit and mode. */
export interface RecordedTransaction extends RetrievedPledgeTransaction {
  id: string;
  unitId: string;
  mode: "test" | "live";
}

/** A request that the service received. */
export interface RecordedRequest {
  method: string;
  /** The path with the query. */
  path: string;
  /** The headers by lower-case names. An API key is replaced by its label or `[API key]`. */
  headers: Record<string, string>;
  /** The parsed JSON body, or its text if it is not JSON; undefined without a body, or if the service did not read it. */
  body: unknown;
  /** The status of the response; null if there is none yet. */
  status: number | null;
}

/** An e-mail that the service sent. */
export interface RecordedEmail {
  /** The ID of the transaction that the e-mail is about. */
  transactionId: string;
  /** When it was sent, by the service's clock. */
  sentAt: string;
  /** The language tag, such as `de`. */
  language: string;
  /** The sender: the unit's name, and the operator's address. */
  from: { name: string; email: string };
  /** The recipient's address. E-mails about transactions of test keys go to the operator's test address instead. */
  to: string;
  /** The unit's address for replies. */
  replyTo?: string;
  subject: string;
  text: string;
  html: string;
  /** Additional headers, such as `List-Unsubscribe`. */
  headers: Record<string, string>;
}

/** A message that the service sent to the adapter of a messaging service. */
export interface RecordedMessage {
  /** When it was sent, by the service's clock. */
  sentAt: string;
  service: Exclude<NotificationType, "Email">;
  /** The ID of the transaction that the message is about. */
  transactionId: string;
  isLive: boolean;
  recipient: { email: string; firstName: string | null; name: string | null };
  /** The unit's ID, and the name in its profile. */
  unit: { id: string; name: string };
  /** The language tag, such as `de`. */
  language: string;
  title: string;
  text: string;
  timelineUrl: string;
}

/** The part of Node's `IncomingMessage` that is used. */
interface NodeRequest extends AsyncIterable<unknown> {
  method?: string | undefined;
  url?: string | undefined;
  rawHeaders: string[];
}
/** The part of Node's `ServerResponse` that is used. */
interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: Uint8Array): unknown;
  destroy(): unknown;
}

/**
 * A service that runs inside a test's process. Its functions can be destructured, because they do not use
 * `this`.
 */
export interface TestService {
  /**
   * A base URL for `PledgeClient`. `fetch` serves requests to any origin. Like the deployed service, `fetch`
   * refuses a live key over `http:` (403), unless the host is this machine.
   */
  readonly baseUrl: string;
  /**
   * A `fetch` whose requests the service answers, for `PledgeClient` and other code.
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
   * A request listener for Node's `http.createServer`. It serves live keys over plain HTTP, for any host name.
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
  /** Returns the time of the service's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Moves the service's clock forward by `ms` milliseconds, and ends the waits whose time has come.
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
   * Makes the next requests fail. If several faults match a request, the one that was added first applies.
   * @throws {PledgeError} if the fault is invalid
   *
   * @example
   * ```js
   * import { PledgeClient } from "impact-pledge";
   * import { createTestService } from "impact-pledge/testing";
   *
   * const service = createTestService();
   * const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: service.baseUrl, fetch: service.fetch, retryCreates: true });
   * service.fail({ operation: "create", fault: "lost answer" });
   * const { id } = await client.createPledgeTransaction(payload);
   * console.log(service.requests().length, service.transactions().length); // 2 1
   * ```
   */
  readonly fail: (fault: TestFault) => void;
  /** Removes all faults. Requests that a fault has left without a response stay unanswered. */
  readonly restore: () => void;
  /** Returns copies of the recorded transactions, the oldest first. */
  readonly transactions: () => RecordedTransaction[];
  /**
   * Returns copies of the last 1,000 e-mails that the service sent, the oldest first. They are there as soon as the create
   * request is answered.
   *
   * @example
   * ```js
   * import { PledgeClient } from "impact-pledge";
   * import { createTestService } from "impact-pledge/testing";
   *
   * const service = createTestService();
   * const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: service.baseUrl, fetch: service.fetch });
   * await client.createPledgeTransaction({ ...payload, notifications: ["Email"] });
   * console.log(service.emails()[0].subject); // Small Hours Coffee has pledged 1 × tree for you
   * ```
   */
  readonly emails: () => RecordedEmail[];
  /** Returns copies of the last 1,000 messages to adapters of messaging services, the oldest first, like `emails()`. */
  readonly messages: () => RecordedMessage[];
  /** Returns copies of the last 1,000 requests, the oldest first; fewer if their bodies are long. */
  readonly requests: () => RecordedRequest[];
  /**
   * Waits until the service has answered `count` requests since its start or `reset()`. Use it for requests
   * that a shop sends in the background, for example after it has answered a webhook. Returns `requests()`;
   * `transactions()` then contains their transactions. A request that a fault leaves without a response
   * counts, too. Waits for at most `deadlineMs` milliseconds (default: 3,000) of real time, even if the
   * service's clock stands still.
   *
   * @throws {PledgeError} if the count or an option is invalid
   * @throws {Error} if fewer requests arrived in that time; its message says how many
   *
   * @example
   * ```js
   * import { createTestService } from "impact-pledge/testing";
   *
   * const service = createTestService();
   * setTimeout(service.fetch, 50, "/v2/pledge-transaction/ptran_1"); // by a job of the shop
   * const [{ path, status }] = await service.received(1);
   * console.log(path, status); // /v2/pledge-transaction/ptran_1 401
   * ```
   */
  readonly received: (
    count: number,
    options?: { readonly deadlineMs?: number | undefined },
  ) => Promise<RecordedRequest[]>;
  /** Resets the service to its initial state: removes transactions, e-mails, messages, requests and faults; restarts clock and IDs. */
  readonly reset: () => void;
}
