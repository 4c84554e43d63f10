/** What the shop offers. A page can send anything, so it decides nothing but the number of trees and who they are for. */
const MOST_TREES = 100;

/** The problems of a valid request: it is not what this shop offers. */
export function offerIssues({ pledges: [{ impact }] }) {
  if (Number.isInteger(impact.amount) && impact.amount <= MOST_TREES) return [];
  const path = ["pledges", 0, "impact", "amount"];
  return [{ path, name: path.join("."), message: `Choose 1 to ${MOST_TREES} whole trees` }];
}

/** The shop's own order of a request that has no problems. */
export const orderOf = ({ recipient, pledges: [{ impact }] }) => ({
  reference: "order-1001", // the number that your shop has for this shopper's order
  recipient,
  pledges: [{ impact: { amount: impact.amount, offeringId: "tree" } }],
});
