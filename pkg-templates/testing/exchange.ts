/* A received request and its response, as the test service sees them. */
import type { Next } from "./body.ts";

/** A received request. */
export interface Incoming {
  readonly method: string;
  readonly url: string;
  /** The headers, keyed by lower-case name. */
  readonly headers: Map<string, string>;
  readonly next: Next;
  /** Whether the whole body is already in memory. */
  readonly isWhole: boolean;
  /**
   * Whether the request came through `handler`. The test chooses the host names there, so live keys are accepted over
   * plain HTTP.
   */
  readonly isFromNetwork?: boolean;
}

/** A response. */
export interface Served {
  readonly status: number;
  readonly headers: Map<string, string>;
  readonly body: Uint8Array | undefined;
  /** Whether the connection breaks before the response is sent. */
  readonly isLost: boolean;
  /** Whether the service stopped reading the request's body before its end. */
  readonly isCut: boolean;
}
