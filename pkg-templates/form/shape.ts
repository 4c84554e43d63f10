/* The shape of a request for forms. */

/**
 * The maximum number of steps into which a field's name is split. It is one more than the longest path of the
 * request has, so a longer name is always unknown.
 */
export const MAX_STEPS = 5;
const INDEX = /^(0|[1-9]\d{0,8})$/;

/** The shape of a value in the request. */
export interface Shape {
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  readonly format?: "email" | "uri" | "date-time";
  /** The members of an object, in the order of the contract. */
  readonly members?: Readonly<Record<string, Shape>>;
  /** The allowed texts. */
  readonly choices?: readonly string[];
  /** The items of an array, and their minimum and maximum number. */
  readonly item?: Shape;
  readonly least?: number;
  readonly most?: number;
}

/** Returns the shape of a member or an item; undefined if there is none. */
export function shapeWithin(shape: Shape | undefined, step: string): Shape | undefined {
  if (shape?.item) return INDEX.test(step) ? shape.item : undefined;
  return shape?.members && Object.hasOwn(shape.members, step) ? shape.members[step] : undefined;
}
