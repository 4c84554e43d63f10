/* The shape of a request for forms. */

/**
 * The maximum number of steps into which a field's name is split: one more than in the longest path of the
 * request. A name with this many steps is always unknown.
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
  /** The shape of an array's items. `least` and `most` are their minimum and maximum number. */
  readonly item?: Shape;
  readonly least?: number;
  readonly most?: number;
}

/** Returns the shape of a member or an item; undefined if there is none. */
export function shapeWithin(shape: Shape | undefined, step: string): Shape | undefined {
  if (shape?.item) return INDEX.test(step) ? shape.item : undefined;
  return shape?.members && Object.hasOwn(shape.members, step) ? shape.members[step] : undefined;
}
