/* Where a name leads in the request. */

/** One more than the longest path of the request has. A name with more is not split any further: it leads nowhere. */
export const MAX_STEPS = 5;
const INDEX = /^(0|[1-9]\d{0,8})$/;

/** What a form can fill in at a place of the request. */
export interface Shape {
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  readonly format?: "email" | "uri" | "date-time";
  /** Of an object. */
  readonly members?: Readonly<Record<string, Shape>>;
  /** Of an array. */
  readonly item?: Shape;
}

/** The shape of a part of a place, if it has such a part. */
export function shapeWithin(shape: Shape | undefined, step: string): Shape | undefined {
  if (shape?.item) return INDEX.test(step) ? shape.item : undefined;
  return shape?.members && Object.hasOwn(shape.members, step) ? shape.members[step] : undefined;
}
