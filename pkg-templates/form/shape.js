/** Where a name leads in the request. */

/** One more than the longest path of the request has. A name with more is not split any further: it leads nowhere. */
export const MAX_STEPS = 5;
const INDEX = /^(0|[1-9]\d{0,8})$/;

/** The shape of a part of a place, if it has such a part. */
export function shapeWithin(shape, step) {
  if (shape?.item) return INDEX.test(step) ? shape.item : undefined;
  return shape?.members && Object.hasOwn(shape.members, step) ? shape.members[step] : undefined;
}
