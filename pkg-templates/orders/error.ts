/* The error of a signature that is refused, or of a body that cannot be read. */

/**
 * The reason of an {@link OrderError}. `missing`, `stale` and `wrong` are about the signature, the others about the body.
 */
export type OrderErrorCode =
  | "missing"
  | "stale"
  | "wrong"
  | "notJson"
  | "unknown"
  | "noId"
  | "noCurrency"
  | "tooManyLines";

/** A signature is refused, or a body cannot be read. `code` says why. */
export class OrderError extends Error {
  override readonly name = "OrderError";
  declare readonly code: OrderErrorCode;

  /** @internal */
  constructor(code: OrderErrorCode) {
    super(`webhook refused as ${code}`);
    this.code = code;
  }
}

export function fail(code: OrderErrorCode): never {
  throw new OrderError(code);
}
